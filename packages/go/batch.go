package keyreeve

import (
	"context"
	"slices"
	"strings"
	"time"
)

const (
	// The service accepts 256 questions and 1,050,688 bytes.
	questionsMax  = 256
	batchBytesMax = 1_000_000
)

// outcome is what a caller of Verify receives.
type outcome struct {
	result Result
	err    error
}

// waiter is a caller of Verify. The channel has room for the one outcome, so that no delivery blocks.
type waiter chan outcome

type entry struct {
	question question
	batch    *batch
	// Those that have received no outcome and have not left.
	waiters []waiter
	// Of the last one of them.
	deadline time.Time
}

// batch is the questions of one request. The mutex of the sender protects its members.
type batch struct {
	// All questions of a batch have equal environments, because the service rejects a batch with an unknown one.
	environments string
	entries      []*entry
	// The free ones of them, by their text.
	free  map[string]*entry
	bytes int
	// Whether a question did not fit, or the next one does not.
	isFull bool
	// Ends the request. Nil until the batch is sent: only then can a question join it.
	cancel context.CancelFunc
	// Set when the batch is sent.
	deadline time.Time
}

// add adds a caller of an unsent batch. It returns nil if the batch is full.
func (b *batch) add(asked question, caller waiter) *entry {
	if equal := b.free[asked.text]; asked.isFree && equal != nil {
		equal.waiters = append(equal.waiters, caller)
		return equal
	}
	size := len(asked.text) + len(",")
	b.isFull = b.isFull || len(b.entries) == questionsMax || (len(b.entries) > 0 && b.bytes+size > batchBytesMax)
	if b.isFull {
		return nil
	}
	added := &entry{question: asked, batch: b, waiters: []waiter{caller}}
	b.entries = append(b.entries, added)
	b.bytes += size
	b.isFull = len(b.entries) == questionsMax
	if asked.isFree {
		if b.free == nil {
			b.free = map[string]*entry{}
		}
		b.free[asked.text] = added
	}
	return added
}

// remove removes an entry of an unsent batch whose callers have left.
func (b *batch) remove(left *entry) {
	index := slices.Index(b.entries, left)
	b.entries = slices.Delete(b.entries, index, index+1)
	b.isFull = false
	b.bytes -= len(left.question.text) + len(",")
	if left.question.isFree {
		delete(b.free, left.question.text)
	}
}

func (b *batch) hasWaiters() bool {
	return slices.ContainsFunc(b.entries, func(e *entry) bool { return len(e.waiters) > 0 })
}

func bodyOf(entries []*entry) string {
	texts := make([]string, len(entries))
	for index, each := range entries {
		texts[index] = each.question.text
	}
	return `{"questions":[` + strings.Join(texts, ",") + `]}`
}
