package keyreeve

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"
)

// manualClock moves only when a test moves it, so that no load of the machine exceeds a deadline.
type manualClock struct {
	mutex   sync.Mutex
	elapsed time.Duration
	numbers int
	waits   map[int]wait
}

type wait struct {
	until time.Duration
	kind  waitKind
	wake  func()
}

type waitKind int

const (
	ofCaller waitKind = iota
	ofBatch
	ofIdleConnection
)

func newManualClock() *manualClock {
	return &manualClock{waits: map[int]wait{}}
}

func (c *manualClock) now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return time.Unix(0, 0).Add(c.elapsed)
}

// move ends the waits that are due.
func (c *manualClock) move(by time.Duration) {
	c.mutex.Lock()
	c.elapsed += by
	var due []wait
	for number, each := range c.waits {
		if each.until <= c.elapsed {
			due = append(due, each)
			delete(c.waits, number)
		}
	}
	c.mutex.Unlock()
	for _, each := range due {
		each.wake()
	}
}

// ends returns when the waits of a kind end, since the start of the clock.
func (c *manualClock) ends(kind waitKind) []time.Duration {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	ends := []time.Duration{}
	for _, each := range c.waits {
		if each.kind == kind {
			ends = append(ends, each.until)
		}
	}
	slices.Sort(ends)
	return ends
}

// rests returns the time until each wait ends, in milliseconds.
func (c *manualClock) rests() []int64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	rests := []int64{}
	for _, each := range c.waits {
		rests = append(rests, (each.until - c.elapsed).Milliseconds())
	}
	return rests
}

func (c *manualClock) add(after time.Duration, kind waitKind, wake func()) func() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.numbers++
	number := c.numbers
	c.waits[number] = wait{c.elapsed + after, kind, wake}
	return func() bool {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		_, waits := c.waits[number]
		delete(c.waits, number)
		return waits
	}
}

func (c *manualClock) timer(after time.Duration) (<-chan time.Time, func() bool) {
	ended := make(chan time.Time, 1)
	return ended, c.add(after, ofCaller, func() { ended <- time.Time{} })
}

func (c *manualClock) afterFunc(after time.Duration, run func()) func() bool {
	return c.add(after, ofIdleConnection, run)
}

func (c *manualClock) withTimeout(after time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	stop := c.add(after, ofBatch, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

func TestTheClockOfTheSystemEndsWaitsAtTheirTimeAndNotBefore(t *testing.T) {
	const after = 20 * time.Millisecond
	begun := systemClock{}.now()
	ended, stop := systemClock{}.timer(after)
	<-ended
	equal(t, stop(), false)
	called := make(chan struct{})
	systemClock{}.afterFunc(after, func() { close(called) })
	<-called
	ctx, cancel := systemClock{}.withTimeout(after)
	defer cancel()
	<-ctx.Done()
	equal(t, ctx.Err(), context.DeadlineExceeded)
	if took := time.Since(begun); took < 3*after {
		t.Fatalf("three waits took %v", took)
	}
	_, stop = systemClock{}.timer(time.Hour)
	equal(t, stop(), true)
	equal(t, systemClock{}.afterFunc(time.Hour, func() {})(), true)
}
