package keyreeve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	deadline   = 3 * time.Second
	waitingMax = 16_384
)

// batchSender sends questions in batches.
//
// A question joins only a batch that no goroutine has taken to send, so its verification starts after the call: a key that was
// deleted before the call is refused. Nothing is kept: a result goes to the callers that wait for it, and no later caller
// receives it.
type batchSender struct {
	dial          dialer
	authorization KeyFunc
	// Replaces the connections of the sender. Nil without one.
	roundTripper http.RoundTripper
	target       destination
	clock        clock

	mutex sync.Mutex
	// Unsent, oldest first.
	unsent []*batch
	// The unsent batch that a question with these environments can join.
	joinable map[string]*batch
	// Callers whose question has not been sent.
	waiting  int
	inFlight inFlight
	// Goroutines that send batches. They end when no batch can be sent.
	sending int
	// Connections that no batch uses, at most one for each batch in flight.
	idle []*connection
}

func (s *batchSender) ask(ctx context.Context, asked question) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, unavailableBecause(err)
	}
	isOver, stop := s.clock.timer(deadline)
	defer stop()
	caller := make(waiter, 1)
	joined := s.join(asked, caller)
	if joined == nil {
		return Result{}, unavailable(fmt.Sprintf("%d verifications wait already", waitingMax))
	}
	select {
	case received := <-caller:
		return received.result, received.err
	case <-isOver:
		s.leave(joined, caller)
		return Result{}, late(nil)
	case <-ctx.Done():
		s.leave(joined, caller)
		return Result{}, unavailableBecause(ctx.Err())
	}
}

// join returns nil if too many callers wait.
func (s *batchSender) join(asked question, caller waiter) *entry {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.waiting >= waitingMax {
		return nil
	}
	var joined *entry
	if last := s.joinable[asked.environments]; last != nil {
		joined = last.add(asked, caller)
	}
	if joined == nil {
		added := &batch{environments: asked.environments}
		joined = added.add(asked, caller)
		s.unsent = append(s.unsent, added)
		s.joinable[asked.environments] = added
	}
	joined.deadline = s.clock.now().Add(deadline)
	s.waiting++
	s.startSending()
	return joined
}

func (s *batchSender) startSending() {
	if len(s.unsent) > 0 && s.sending < s.inFlight.limit(s.fullWaits()) {
		s.sending++
		go s.sendAll()
	}
}

func (s *batchSender) fullWaits() bool {
	return slices.ContainsFunc(s.unsent, func(b *batch) bool { return b.isFull })
}

func (s *batchSender) leave(left *entry, caller waiter) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	index := slices.Index(left.waiters, caller)
	if index < 0 {
		return
	}
	left.waiters = slices.Delete(left.waiters, index, index+1)
	of := left.batch
	if of.cancel != nil {
		// No answer outlives its callers.
		if !of.hasWaiters() {
			of.cancel()
		}
		return
	}
	s.waiting--
	if len(left.waiters) > 0 {
		return
	}
	of.remove(left)
	if len(of.entries) == 0 {
		s.removeUnsent(slices.Index(s.unsent, of))
	}
}

func (s *batchSender) removeUnsent(index int) {
	removed := s.unsent[index]
	s.unsent = slices.Delete(s.unsent, index, index+1)
	if s.joinable[removed.environments] == removed {
		delete(s.joinable, removed.environments)
	}
}

// sendAll sends batches until none can be sent.
func (s *batchSender) sendAll() {
	for {
		// Goroutines that can run now, such as those that just received a result, ask first and join the batch.
		runtime.Gosched()
		ctx, taken, begun := s.take()
		if taken == nil {
			return
		}
		answered := s.deliver(ctx, taken)
		taken.cancel()
		s.mutex.Lock()
		s.inFlight.end(begun, answered, s.fullWaits())
		s.mutex.Unlock()
	}
}

// take closes the oldest batch for further questions. It returns nil if none can be sent: then the calling goroutine ends.
func (s *batchSender) take() (context.Context, *batch, flight) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for {
		fullWaits := s.fullWaits()
		if len(s.unsent) == 0 || s.inFlight.count >= s.inFlight.limit(fullWaits) {
			s.sending--
			return nil, nil, flight{}
		}
		taken := s.unsent[0]
		s.removeUnsent(0)
		for _, each := range taken.entries {
			s.waiting -= len(each.waiters)
		}
		now := s.clock.now()
		if fullWaits {
			s.failLate(taken, now)
		}
		if len(taken.entries) == 0 {
			continue
		}
		taken.deadline = now.Add(deadline)
		ctx, cancel := s.clock.withTimeout(deadline)
		taken.cancel = cancel
		begun := s.inFlight.start(now, taken.isFull)
		s.startSending()
		return ctx, taken, begun
	}
}

// failLate is for an overload, in which a question whose result would come after its deadline would only take the place of others.
func (s *batchSender) failLate(taken *batch, now time.Time) {
	end := now.Add(s.inFlight.last)
	err := unavailable(fmt.Sprintf("no result in time: a batch takes %v", s.inFlight.last.Round(time.Millisecond)))
	taken.entries = slices.DeleteFunc(taken.entries, func(each *entry) bool {
		if !each.deadline.Before(end) {
			return false
		}
		for _, caller := range each.waiters {
			caller <- outcome{err: err}
		}
		each.waiters = nil
		return true
	})
}

// deliver gives each caller of a batch its result or an error. It returns when the service has answered with results.
func (s *batchSender) deliver(ctx context.Context, taken *batch) time.Time {
	asked, results, err := s.send(ctx, taken)
	if err != nil {
		s.fail(taken, taken.entries, err)
		return time.Time{}
	}
	answered := s.clock.now()
	for index, each := range asked {
		s.settle(each, results[index])
	}
	return answered
}

// send returns the entries that the service answered, with their results. It repeats free questions once, on a new connection,
// if the first one fails before the deadline and before the first byte of a response.
func (s *batchSender) send(ctx context.Context, taken *batch) ([]*entry, []receivedResult, error) {
	asked := taken.entries
	received, err := s.exchange(ctx, asked, false)
	if errors.Is(err, errUnanswered) && !s.isLate(taken) {
		asked = s.failUnrepeatable(taken, err)
		if len(asked) > 0 {
			received, err = s.exchange(ctx, asked, true)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if received.status != http.StatusOK {
		return nil, nil, errorOf(received)
	}
	results, err := readResults(received.text, len(asked))
	return asked, results, err
}

func (s *batchSender) exchange(ctx context.Context, asked []*entry, isRepeated bool) (answer, error) {
	authorization, err := s.authorization(ctx)
	if err != nil {
		return answer{}, err
	}
	header := headerOf(authorization)
	if s.roundTripper != nil {
		return roundTrip(ctx, s.roundTripper, http.MethodPost, s.target.url.String(), header, bodyOf(asked))
	}
	used, err := s.connection(ctx, isRepeated)
	if err != nil {
		return answer{}, err
	}
	received, err := used.send(ctx, header, bodyOf(asked))
	if err != nil {
		used.close()
		return answer{}, err
	}
	s.putIdle(used)
	return received, nil
}

// failUnrepeatable returns the questions that can be repeated: free ones, for which a caller still waits.
func (s *batchSender) failUnrepeatable(taken *batch, err error) []*entry {
	var repeated, failed []*entry
	s.mutex.Lock()
	for _, each := range taken.entries {
		if each.question.isFree && len(each.waiters) > 0 {
			repeated = append(repeated, each)
		} else {
			failed = append(failed, each)
		}
	}
	s.mutex.Unlock()
	s.fail(taken, failed, err)
	return repeated
}

// fail gives each caller of these entries an error. After the deadline of the batch, each caller has waited for as long: all get
// the error of a late result.
func (s *batchSender) fail(taken *batch, entries []*entry, err error) {
	failure := unavailableBecause(err)
	if s.isLate(taken) {
		failure = late(err)
	}
	for _, each := range entries {
		for _, caller := range s.finish(each) {
			caller <- outcome{err: failure}
		}
	}
}

// isLate is true after the deadline of the batch. A read or write can fail with it before its context returns an error.
func (s *batchSender) isLate(taken *batch) bool {
	return !s.clock.now().Before(taken.deadline)
}

func late(cause error) error {
	return &unavailableError{reason: fmt.Sprintf("no result within %v", deadline), cause: cause}
}

func (s *batchSender) settle(settled *entry, received receivedResult) {
	for index, caller := range s.finish(settled) {
		result := received.result
		if index > 0 {
			// Callers can change the lists and maps of a result, so they do not share them. The text was read before.
			result, _ = readResult(received.text)
		}
		if !result.Valid && result.Code == unavailableCode {
			caller <- outcome{err: unavailable("the service cannot verify this credential now")}
			continue
		}
		caller <- outcome{result: result}
	}
}

// finish returns the callers of an entry, which receive their outcome now.
func (s *batchSender) finish(finished *entry) []waiter {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	callers := finished.waiters
	finished.waiters = nil
	return callers
}

// connection returns an idle connection that is still open, or a new one.
func (s *batchSender) connection(ctx context.Context, isNew bool) (*connection, error) {
	for !isNew {
		s.mutex.Lock()
		last := len(s.idle) - 1
		if last < 0 {
			s.mutex.Unlock()
			break
		}
		found := s.idle[last]
		s.idle = s.idle[:last]
		s.mutex.Unlock()
		if found.isUsable() {
			return found, nil
		}
		found.close()
	}
	return s.dial(ctx)
}

func (s *batchSender) putIdle(unused *connection) {
	if unused.isSpent {
		unused.close()
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.idle = append(s.idle, unused)
	unused.endIdle = s.clock.afterFunc(idleMax, func() { s.closeIdle(unused) })
}

// closeIdle closes these connections, or all, if no batch uses them.
func (s *batchSender) closeIdle(only ...*connection) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.idle = slices.DeleteFunc(s.idle, func(each *connection) bool {
		if len(only) > 0 && !slices.Contains(only, each) {
			return false
		}
		each.close()
		return true
	})
}
