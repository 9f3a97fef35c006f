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
	o.failures++
	o.reason = err.Error()
	message := o.takeMessage()
	o.mutex.Unlock()
	o.log(message)
}

func (o *outageLog) succeeded() {
	o.mutex.Lock()
	message := o.takeMessage()
	o.mutex.Unlock()
	o.log(message)
}

// log is called without the lock: a handler that blocks must not delay other verifications.
func (o *outageLog) log(message string) {
	if message == "" {
		return
	}
	logger := o.logger
	if logger == nil {
		logger = slog.Default()
	}
	logger.Warn(message)
}

// takeMessage returns a text about the failures since the last message, if it is a minute old; otherwise "".
func (o *outageLog) takeMessage() string {
	if o.failures == 0 {
		return ""
	}
	now, period := o.clock.now(), ""
	if !o.logged.IsZero() {
		elapsed := now.Sub(o.logged)
		if elapsed < outagePeriod {
			return ""
		}
		period = fmt.Sprintf(" in %.0f s", math.Round(elapsed.Seconds()))
	}
	count := "1 verification"
	if o.failures > 1 {
		count = fmt.Sprintf("%d verifications", o.failures)
	}
	o.failures, o.logged = 0, now
	return fmt.Sprintf("%s (%s failed%s)", o.reason, count, period)
}
