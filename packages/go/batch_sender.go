package keyreeve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	deadline    = 3 * time.Second
	inFlightMax = 2
	waitingMax  = 10_000
)

// batchSender sends questions in batches.
//
// A question joins only a batch that no goroutine has taken to send, so its verification starts after the call: a key that was
// deleted before the call is refused. Nothing is kept: a result goes to the callers that wait for it, and no later caller
// receives it.
type batchSender struct {
	dial  dialer
	clock clock

	mutex sync.Mutex
	// Unsent, oldest first.
	unsent []*batch
	// The unsent batch that a question with these environments can join.
	joinable map[string]*batch
	// Callers whose question has not been sent.
	waiting int
	// Goroutines that send batches. They end when no question is left.
	sending int
	// Connections that no batch uses, at most one for each batch in flight.
	idle []*connection
}

func newBatchSender(dial dialer, clock clock) *batchSender {
	return &batchSender{dial: dial, clock: clock, joinable: map[string]*batch{}}
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
	s.waiting++
	if s.sending < inFlightMax {
		s.sending++
		go s.sendAll()
	}
	return joined
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

// sendAll sends batches until no question is left.
func (s *batchSender) sendAll() {
	for {
		// Goroutines that can run now, such as those that just received a result, ask first and join the batch.
		runtime.Gosched()
		ctx, taken := s.take()
		if taken == nil {
			return
		}
		s.deliver(ctx, taken)
		taken.cancel()
	}
}

// take closes the oldest batch for further questions. It returns nil if there is none: then the calling goroutine ends.
func (s *batchSender) take() (context.Context, *batch) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.unsent) == 0 {
		s.sending--
		return nil, nil
	}
	taken := s.unsent[0]
	s.removeUnsent(0)
	for _, each := range taken.entries {
		s.waiting -= len(each.waiters)
	}
	taken.deadline = s.clock.now().Add(deadline)
	ctx, cancel := s.clock.withTimeout(deadline)
	taken.cancel = cancel
	return ctx, taken
}

// deliver gives each caller of a batch its result or an error.
func (s *batchSender) deliver(ctx context.Context, taken *batch) {
	asked, results, err := s.send(ctx, taken)
	if err != nil {
		s.fail(taken, taken.entries, err)
		return
	}
	for index, each := range asked {
		s.settle(each, results[index])
	}
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
		return nil, nil, fmt.Errorf("the service answered %d%s", received.status, codeOf(received))
	}
	results, err := readResults(received.text, len(asked))
	return asked, results, err
}

func (s *batchSender) exchange(ctx context.Context, asked []*entry, isRepeated bool) (answer, error) {
	used, err := s.connection(ctx, isRepeated)
	if err != nil {
		return answer{}, err
	}
	received, err := used.send(ctx, bodyOf(asked))
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

var codeForm = regexp.MustCompile(`"code":"([a-z_]{1,64})"`)

// codeOf names the error of a problem document, for the message.
func codeOf(received answer) string {
	if found := codeForm.FindSubmatch(received.text); found != nil {
		return fmt.Sprintf(" (%s)", found[1])
	}
	return ""
}
