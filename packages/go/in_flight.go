package keyreeve

import "time"

const (
	inFlightMin = 2
	inFlightMax = 16
	// Longer durations show that requests wait in the service or in a proxy.
	slowFactor = 2
)

// inFlight decides how many batches are in flight. The mutex of the sender protects its members.
//
// Questions that wait join a batch, so two batches are enough until full batches wait. Then the limit follows the service: as many
// as let a full batch take twice as long as with two in flight.
type inFlight struct {
	count   int
	current int
	// Duration of a full batch, with at most two in flight.
	base time.Duration
	// Duration of the last batch that the service has answered. 0 before the first one.
	last time.Duration
}

type flight struct {
	started time.Time
	isFull  bool
	// Batches in flight, with this one.
	count int
}

// limit needs to know whether a batch that is full waits.
func (f *inFlight) limit(fullWaits bool) int {
	if fullWaits {
		return max(inFlightMin, f.current)
	}
	return inFlightMin
}

func (f *inFlight) start(started time.Time, isFull bool) flight {
	f.count++
	return flight{started, isFull, f.count}
}

// end is called with the zero time if the service has not answered with results.
func (f *inFlight) end(ended flight, at time.Time, fullWaits bool) {
	f.count--
	if at.IsZero() {
		f.set(f.current / 2)
		return
	}
	f.last = at.Sub(ended.started)
	switch {
	case !fullWaits:
		f.set(f.current - 1)
	case ended.isFull:
		f.follow(ended.count)
	}
}

// follow is called with the batches that were in flight when the last one started.
func (f *inFlight) follow(count int) {
	if count <= inFlightMin {
		f.base = f.last
	}
	if f.last == 0 {
		f.set(inFlightMax)
		return
	}
	// By Little's law, a service that works on one batch at a time gets four.
	f.set(int(time.Duration(count) * slowFactor * f.base / f.last))
}

func (f *inFlight) set(limit int) {
	f.current = max(inFlightMin, min(inFlightMax, limit))
}
