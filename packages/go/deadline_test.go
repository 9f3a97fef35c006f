package keyreeve

import (
	"testing"
	"time"
)

func TestRule5AVerificationTakes3SecondsAtMost(t *testing.T) {
	part := func(request *testRequest) { request.send("HTTP/1.1 200 OK\r\n") }
	for name, answer := range map[string]func(*testRequest){"silent": never, "slow": part} {
		t.Run(name, func(t *testing.T) {
			service := newTestService(t, answer)
			client := newTestClient(t, service)
			clock := clockOf(client)
			started := start(client, "key", Options{})
			request := service.all(t, 1)[0]
			for range 2 {
				clock.move(time.Second)
				if name == "slow" {
					request.send("X: y\r\n")
				}
			}
			clock.move(999 * time.Millisecond)
			// Of the caller, and of its batch, which was taken at the same time.
			three := []time.Duration{3 * time.Second}
			equal(t, [][]time.Duration{clock.ends(ofCaller), clock.ends(ofBatch)}, [][]time.Duration{three, three})
			clock.move(time.Millisecond)
			assertUnavailable(t, (<-started).err, "no result within 3s")
			until(t, "the request ends", func() bool { return sending(client) == 0 })
		})
	}
}

func TestRule5ACallerIsLateEvenIfItsQuestionIsNotSent(t *testing.T) {
	service := newTestService(t, never)
	client := newTestClient(t, service)
	fill(t, client, service, Options{})
	clockOf(client).move(time.Second)
	unsent := queue(t, client, Options{}, "unsent")
	equal(t, clockOf(client).ends(ofCaller), []time.Duration{3 * time.Second, 3 * time.Second, 4 * time.Second})
	clockOf(client).move(3 * time.Second)
	assertUnavailable(t, (<-unsent[0]).err, "no result within 3s")
}

// The batch ends at the same time as its callers. Those that the batch tells first get the same error.
func TestRule5ABatchThatFailsAfterItsDeadlineIsLate(t *testing.T) {
	service := newTestService(t, never)
	client := newTestClient(t, service)
	caller := join(client, questionsOf(t, []string{"key"}))[0]
	service.all(t, 1)
	equal(t, clockOf(client).ends(ofBatch), []time.Duration{3 * time.Second})
	clockOf(client).move(3 * time.Second)
	assertUnavailable(t, (<-caller).err, "no result within 3s")
	equal(t, len(service.all(t, 1)), 1)
}
