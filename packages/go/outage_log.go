package keyreeve

import (
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"
)

const outagePeriod = time.Minute

// outageLog logs one message per minute while verifications fail.
type outageLog struct {
	// Nil: the default one.
	logger *slog.Logger
	clock  clock

	mutex sync.Mutex
	// Since the last message.
	failures int
	reason   string
	// Zero before the first message.
	logged time.Time
}

func (o *outageLog) failed(err error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.failures++
	o.reason = err.Error()
	o.flush()
}

func (o *outageLog) succeeded() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.flush()
}

// flush logs the failures since the last message, if it is a minute old.
func (o *outageLog) flush() {
	if o.failures == 0 {
		return
	}
	now, period := o.clock.now(), ""
	if !o.logged.IsZero() {
		elapsed := now.Sub(o.logged)
		if elapsed < outagePeriod {
			return
		}
		period = fmt.Sprintf(" in %.0f s", math.Round(elapsed.Seconds()))
	}
	count := "1 verification"
	if o.failures > 1 {
		count = fmt.Sprintf("%d verifications", o.failures)
	}
	logger := o.logger
	if logger == nil {
		logger = slog.Default()
	}
	logger.Warn(fmt.Sprintf("%s (%s failed%s)", o.reason, count, period))
	o.failures, o.logged = 0, now
}
