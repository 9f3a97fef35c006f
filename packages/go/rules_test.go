package keyreeve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The rules of docs/decisions/13-client-libraries-and-proxies.md. test/mutants.ts has a broken build for each. Rule 9 is about
// fork, which Go does not have.

// No rule waits for something that only the correct library does, if it detects a broken build: waits have no limit.

func free() Options { return Options{Cost: Cost(0)} }

func newTestClient(t *testing.T, service *testService) *Client {
	t.Helper()
	return newClientOf(t, Config{URL: service.url, ServiceKey: testKey, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
}

func newClientOf(t *testing.T, config Config) *Client {
	t.Helper()
	client, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	clock := newManualClock()
	client.sender.clock, client.outages.clock = clock, clock
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func clockOf(client *Client) *manualClock {
	return client.sender.clock.(*manualClock)
}

func waiting(client *Client) int {
	client.sender.mutex.Lock()
	defer client.sender.mutex.Unlock()
	return client.sender.waiting
}

func sending(client *Client) int {
	client.sender.mutex.Lock()
	defer client.sender.mutex.Unlock()
	return client.sender.sending
}

func idleOf(client *Client) []*connection {
	client.sender.mutex.Lock()
	defer client.sender.mutex.Unlock()
	return slices.Clone(client.sender.idle)
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for !holds() {
		time.Sleep(50 * time.Microsecond)
	}
}

func start(client *Client, name string, options Options) chan outcome {
	started := make(chan outcome, 1)
	go func() {
		result, err := client.Verify(context.Background(), name, options)
		started <- outcome{result, err}
	}()
	return started
}

// queue starts verifications in this order, which wait for a batch.
func queue(t *testing.T, client *Client, options Options, names ...string) []chan outcome {
	t.Helper()
	started := make([]chan outcome, len(names))
	for index, name := range names {
		before := waiting(client)
		started[index] = start(client, name, options)
		until(t, "the question waits", func() bool { return waiting(client) > before })
	}
	return started
}

// fill starts two batches, so that later questions wait.
func fill(t *testing.T, client *Client, service *testService, options Options) {
	t.Helper()
	start(client, "first", options)
	service.all(t, 1)
	start(client, "second", options)
	service.all(t, 2)
}

func equal(t *testing.T, found, expected any) {
	t.Helper()
	if !reflect.DeepEqual(found, expected) {
		t.Fatalf("found %v, expected %v", found, expected)
	}
}

func accountOf(t *testing.T, started chan outcome) string {
	t.Helper()
	received := <-started
	if received.err != nil {
		t.Fatal(received.err)
	}
	return received.result.AccountID
}

func assertUnavailable(t *testing.T, err error, reason string) {
	t.Helper()
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), reason) {
		t.Fatalf("found %v, expected that it is unavailable: %s", err, reason)
	}
}

func TestRule1AQuestionJoinsNoBatchThatIsSent(t *testing.T) {
	service := newTestService(t, never)
	client := newTestClient(t, service)
	fill(t, client, service, free())
	late := join(client, freeQuestionsOf(t, "first", "late"))
	sent := service.all(t, 2)
	equal(t, [][]string{sent[0].credentials(), sent[1].credentials()}, [][]string{{"first"}, {"second"}})
	// The answers of the sent batches are old: a key was deleted meanwhile.
	sent[0].accept()
	third := service.all(t, 3)[2]
	equal(t, third.credentials(), []string{"first", "late"})
	third.answer(`{"valid":false,"code":"not_found"}`, acceptedText("late"))
	equal(t, (<-late[0]).result, Result{Code: "not_found"})
	equal(t, accountOf(t, late[1]), "late")
}

func TestRule2NoResultIsKept(t *testing.T) {
	answers := make(chan string, 2)
	answers <- acceptedText("one")
	answers <- `{"valid":false,"code":"not_found"}`
	service := newTestService(t, func(request *testRequest) { request.answer(<-answers) })
	client := newTestClient(t, service)
	for _, isValid := range []bool{true, false} {
		result, err := client.Verify(context.Background(), "key", free())
		equal(t, []any{result.Valid, err}, []any{isValid, nil})
	}
	equal(t, len(service.all(t, 2)), 2)
}

func TestRule2ARequestWithoutCallersEnds(t *testing.T) {
	service := newTestService(t, never)
	client := newTestClient(t, service)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := client.Verify(ctx, "left", Options{})
		ended <- err
	}()
	request := service.all(t, 1)[0]
	cancel()
	err := <-ended
	assertUnavailable(t, err, "context canceled")
	equal(t, errors.Is(err, context.Canceled), true)
	// The clock stands still, so the request does not end at its deadline. Without an end, it would read this answer.
	request.accept()
	until(t, "the request ends", func() bool { return sending(client) == 0 })
	later := start(client, "later", Options{})
	next := service.all(t, 2)[1]
	next.accept()
	equal(t, []any{accountOf(t, later), request.number, next.number}, []any{"later", 1, 2})
}

func TestRule2AnUnsentQuestionWhoseCallerHasLeftIsNotSent(t *testing.T) {
	service := newTestService(t, never)
	client := newTestClient(t, service)
	fill(t, client, service, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	for _, options := range []Options{{}, {Environments: []string{"live"}}} {
		go func() {
			_, err := client.Verify(ctx, "left", options)
			ended <- err
		}()
	}
	until(t, "the questions wait", func() bool { return waiting(client) == 2 })
	cancel()
	assertUnavailable(t, <-ended, "context canceled")
	assertUnavailable(t, <-ended, "context canceled")
	equal(t, []int{waiting(client), len(client.sender.unsent), len(client.sender.joinable)}, []int{0, 0, 0})
	queue(t, client, Options{}, "stays")
	service.all(t, 2)[0].accept()
	equal(t, service.all(t, 3)[2].credentials(), []string{"stays"})
}

func TestRule3EqualQuestionsShareAnEntryOnlyWithoutCost(t *testing.T) {
	service := newTestService(t, never)
	client := newTestClient(t, service)
	fill(t, client, service, Options{})
	shared := queue(t, client, free(), "key", "key")
	scoped := queue(t, client, Options{Cost: Cost(0), Scopes: []string{"orders:read"}}, "key")
	paid := queue(t, client, Options{}, "key", "key")
	service.all(t, 2)[0].accept()
	request := service.all(t, 3)[2]
	costs := []string{}
	for _, each := range request.questions {
		costs = append(costs, fmt.Sprintf("%s %v %t", each.Credential, each.Scopes, each.Cost != nil))
	}
	equal(t, costs, []string{"key [] true", "key [orders:read] true", "key [] false", "key [] false"})
	request.answer(acceptedText("free"), acceptedText("scoped"), acceptedText("1"), acceptedText("2"))
	first, second := (<-shared[0]).result, (<-shared[1]).result
	equal(t, []string{first.AccountID, second.AccountID, accountOf(t, scoped[0])}, []string{"free", "free", "scoped"})
	equal(t, []string{accountOf(t, paid[0]), accountOf(t, paid[1])}, []string{"1", "2"})
	// A caller that changes its result changes no other.
	first.Metadata["of"].(map[string]any)["key"] = 2
	first.Scopes[0] = "b"
	equal(t, second.Metadata, map[string]any{"of": map[string]any{"key": 1.0}})
	equal(t, second.Scopes, []string{"a"})
}

func TestRule4OnlyAFreeQuestionIsRepeatedOnceOnANewConnection(t *testing.T) {
	service := newTestService(t, (*testRequest).end)
	client := newTestClient(t, service)
	_, err := client.Verify(context.Background(), "paid", Options{})
	assertUnavailable(t, err, "no response")
	equal(t, len(service.all(t, 1)), 1)
	_, err = client.Verify(context.Background(), "free", free())
	assertUnavailable(t, err, "no response")
	numbers := []int{}
	for _, request := range service.all(t, 3) {
		numbers = append(numbers, request.number)
	}
	equal(t, numbers, []int{1, 2, 3})
}

// The connection ends while a request is on it that is not its first one: net/http repeats such requests itself.
func TestRule4AnOldConnectionIsNoReasonToRepeatAQuestionWithACost(t *testing.T) {
	service := newTestService(t, func(request *testRequest) {
		if request.number == 1 && request.credentials()[0] != "one" {
			request.end()
		} else {
			request.accept()
		}
	})
	client := newTestClient(t, service)
	equal(t, accountOf(t, start(client, "one", Options{})), "one")
	_, err := client.Verify(context.Background(), "paid", Options{})
	assertUnavailable(t, err, "no response")
	equal(t, len(service.all(t, 2)), 2)
	equal(t, accountOf(t, start(client, "one", Options{})), "one")
	equal(t, service.all(t, 3)[2].number, 2)
}

func TestRule4TheRepeatedBatchHasTheFreeQuestionsOnly(t *testing.T) {
	service := newTestService(t, never)
	client := newTestClient(t, service)
	fill(t, client, service, Options{})
	paid := queue(t, client, Options{}, "paid")
	repeated := queue(t, client, free(), "free")
	service.all(t, 2)[0].accept()
	third := service.all(t, 3)[2]
	service.all(t, 2)[1].accept()
	until(t, "another connection is idle", func() bool { return len(idleOf(client)) == 1 })
	third.end()
	again := service.all(t, 4)[3]
	equal(t, []any{again.credentials(), again.number}, []any{[]string{"free"}, 3})
	assertUnavailable(t, (<-paid[0]).err, "no response")
	again.accept()
	equal(t, accountOf(t, repeated[0]), "free")
}

func TestRule4NoQuestionIsRepeatedAfterAByteOfAResponse(t *testing.T) {
	service := newTestService(t, func(request *testRequest) {
		request.send("H")
		request.end()
	})
	client := newTestClient(t, service)
	_, err := client.Verify(context.Background(), "free", free())
	assertUnavailable(t, err, "not HTTP, or it ended early")
	equal(t, len(service.all(t, 1)), 1)
}

func TestRule6AtMost2BatchesOf256QuestionsAreInFlight(t *testing.T) {
	service := newTestService(t, never)
	client := newTestClient(t, service)
	names := numbersTo(300)
	asked := questionsOf(t, names)
	fill(t, client, service, Options{})
	started := join(client, asked)
	// The call that asks starts the goroutines.
	equal(t, []int{sending(client), len(service.all(t, 2)), waiting(client)}, []int{2, 2, 300})
	service.all(t, 2)[0].accept()
	third := service.all(t, 3)[2]
	equal(t, third.credentials(), names[:256])
	equal(t, len(service.all(t, 3)), 3)
	service.all(t, 2)[1].accept()
	fourth := service.all(t, 4)[3]
	equal(t, fourth.credentials(), names[256:])
	third.accept()
	fourth.accept()
	for index, each := range started {
		received := <-each
		equal(t, []any{received.err, received.result.AccountID}, []any{nil, names[index]})
	}
}

func TestRule6ABatchFitsTheBoundOfTheService(t *testing.T) {
	service := newTestService(t, never)
	client := newTestClient(t, service)
	names := make([]string, 256)
	for index := range names {
		// A control character takes six bytes in JSON.
		names[index] = strings.Repeat("\x01", 1_000) + strconv.Itoa(1_000+index)
	}
	asked := questionsOf(t, names)
	fill(t, client, service, Options{})
	join(client, asked)
	service.all(t, 2)[0].accept()
	third := service.all(t, 3)[2]
	equal(t, []bool{third.size <= 1_000_100, len(third.questions) < 256}, []bool{true, true})
}

func TestRule6When16384QuestionsWaitOneMoreIsRefusedAtOnce(t *testing.T) {
	service := newTestService(t, never)
	client := newTestClient(t, service)
	asked := questionsOf(t, numbersTo(16_384))
	fill(t, client, service, Options{})
	entries := make([]*entry, len(asked))
	caller := make(waiter, 1)
	for number, each := range asked {
		entries[number] = client.sender.join(each, caller)
	}
	more := questionsOf(t, []string{"one more"})[0]
	equal(t, client.sender.join(more, caller) == nil, true)
	_, err := client.Verify(context.Background(), "one more", Options{})
	assertUnavailable(t, err, "16384 verifications wait already")
	for _, each := range entries {
		client.sender.leave(each, caller)
	}
	equal(t, waiting(client), 0)
}

func TestRule7ResultsBelongToQuestionsByPositionAndCount(t *testing.T) {
	for _, count := range []int{1, 3} {
		service := newTestService(t, never)
		client := newTestClient(t, service)
		fill(t, client, service, Options{})
		started := queue(t, client, Options{}, "a", "b")
		service.all(t, 2)[0].accept()
		results := make([]string, count)
		for index := range results {
			results[index] = acceptedText("x")
		}
		service.all(t, 3)[2].answer(results...)
		for _, each := range started {
			assertUnavailable(t, (<-each).err, fmt.Sprintf("%d results for 2 questions", count))
		}
	}
}
