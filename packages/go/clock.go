package keyreeve

import (
	"context"
	"time"
)

// clock is the time of a client, and the waits that end at a time. Tests move one of their own.
type clock interface {
	now() time.Time
	// timer returns a channel that receives after this time, and a function that ends the timer.
	timer(after time.Duration) (<-chan time.Time, func() bool)
	// afterFunc calls run in a goroutine of its own, and returns a function that prevents it.
	afterFunc(after time.Duration, run func()) func() bool
	withTimeout(after time.Duration) (context.Context, context.CancelFunc)
}

type systemClock struct{}

func (systemClock) now() time.Time {
	return time.Now()
}

func (systemClock) timer(after time.Duration) (<-chan time.Time, func() bool) {
	timer := time.NewTimer(after)
	return timer.C, timer.Stop
}

func (systemClock) afterFunc(after time.Duration, run func()) func() bool {
	return time.AfterFunc(after, run).Stop
}

func (systemClock) withTimeout(after time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), after)
}
