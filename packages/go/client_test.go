package keyreeve

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

func numbersTo(count int) []string {
	names := make([]string, count)
	for index := range names {
		names[index] = strconv.Itoa(index)
	}
	return names
}

func questionsOf(t *testing.T, names []string) []question {
	t.Helper()
	asked := make([]question, len(names))
	for index, name := range names {
		each, err := questionOf(name, Options{})
		equal(t, err, nil)
		asked[index] = each
	}
	return asked
}

func freeQuestionsOf(t *testing.T, names ...string) []question {
	t.Helper()
	asked := questionsOf(t, names)
	for index, name := range names {
		each, err := questionOf(name, free())
		equal(t, err, nil)
		asked[index] = each
	}
	return asked
}

// join asks in this order, without goroutines and deadlines.
func join(client *Client, asked []question) []waiter {
	callers := make([]waiter, len(asked))
	for index, each := range asked {
		callers[index] = make(waiter, 1)
		client.sender.join(each, callers[index])
	}
	return callers
}

func TestRule8OnlyTheLengthRefusesATextLocally(t *testing.T) {
	service := newTestService(t, (*testRequest).accept)
	client := newTestClient(t, service)
	// Bytes that are not UTF-8 have no form in JSON: two credentials would have the same one.
	for _, text := range []string{"", strings.Repeat("k", 4_097), strings.Repeat("é", 2_049), "krv_\xff"} {
		result, err := client.Verify(context.Background(), text, Options{})
		equal(t, []any{result, err}, []any{Result{Code: "malformed"}, nil})
	}
	equal(t, len(service.all(t, 0)), 0)
	for _, text := range []string{strings.Repeat("k", 4_096), "no-prefix", "\x00", "<&>"} {
		equal(t, accountOf(t, start(client, text, Options{})), text)
	}
}

func TestRule10PlainHTTPIsForLoopbackOnly(t *testing.T) {
	open := func(url string, isAllowed bool) error {
		_, err := New(Config{URL: url, ServiceKey: testKey, AllowPlainHTTP: isAllowed})
		return err
	}
	for _, url := range []string{"http://127.0.0.1:1", "http://127.9.9.9", "http://localhost", "http://[::1]:1/x", "https://a.example"} {
		equal(t, open(url, false), nil)
	}
	for _, url := range []string{"http://a.example", "http://127.0.0.1.example.com", "http://localhost.example.com", "http://10.0.0.1", "http://[::2]"} {
		err := open(url, false)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "plain HTTP is allowed to loopback only") {
			t.Fatal(url, err)
		}
		equal(t, open(url, true), nil)
	}
	malformed := []string{
		"", "a.example", "ftp://localhost", "https://u:p@a", "https://a/?", "https://a/?b", "https://a/#", "https://a b",
		"https://a:0", "https://a:65536", "https://é",
	}
	for _, url := range malformed {
		if err := open(url, true); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "expected the URL of Keyreeve") {
			t.Fatal(url, err)
		}
	}
	_, err := New(Config{URL: "https://a.example", ServiceKey: "a\nb"})
	equal(t, errors.Is(err, ErrInvalid), true)
}

func TestRule10ARedirectIsAnError(t *testing.T) {
	target := newTestService(t, (*testRequest).accept)
	for _, status := range []int{301, 302, 303, 307, 308} {
		location := fmt.Sprintf("HTTP/1.1 %d X\r\nLocation: %s/auth/verify/batch\r\nContent-Length: 0\r\n\r\n", status, target.url)
		service := newTestService(t, func(request *testRequest) { request.send(location) })
		_, err := newTestClient(t, service).Verify(context.Background(), "key", free())
		assertUnavailable(t, err, fmt.Sprintf("the service answered %d", status))
		equal(t, len(service.all(t, 1)), 1)
	}
	equal(t, len(target.all(t, 0)), 0)
}

func TestOptionsThatTheServiceRejectsFailTheCallAndNotTheBatch(t *testing.T) {
	service := newTestService(t, never)
	client := newTestClient(t, service)
	wrong := []Options{
		{Scopes: []string{"a b"}}, {Scopes: []string{""}}, {Scopes: make([]string, 33)}, {Scopes: []string{strings.Repeat("a", 65)}},
		{Environments: []string{}}, {Environments: []string{"Live"}}, {Environments: make([]string, 9)},
		{Address: "127.0.0.1:80"}, {Address: "fe80::1%eth0"}, {Cost: Cost(-1)}, {Cost: Cost(10_001)},
	}
	for _, options := range wrong {
		_, err := client.Verify(context.Background(), "key", options)
		equal(t, []bool{errors.Is(err, ErrInvalid), errors.Is(err, ErrUnavailable)}, []bool{true, false})
	}
	equal(t, len(service.all(t, 0)), 0)
	defer func() { equal(t, errors.Is(recover().(error), ErrInvalid), true) }()
	client.Guard(GuardOptions{Cost: Cost(-1)})
}

func TestQuestionsWithOtherEnvironmentsGetABatchOfTheirOwn(t *testing.T) {
	service := newTestService(t, never)
	client := newTestClient(t, service)
	fill(t, client, service, Options{})
	queue(t, client, Options{}, "a")
	queue(t, client, Options{Environments: []string{"unknown"}}, "b")
	queue(t, client, Options{}, "c")
	service.all(t, 2)[0].accept()
	equal(t, service.all(t, 3)[2].credentials(), []string{"a", "c"})
	service.all(t, 2)[1].accept()
	equal(t, service.all(t, 4)[3].credentials(), []string{"b"})
}

func TestAQuestionWithACostSurvivesTheEndOfAnIdleConnection(t *testing.T) {
	service := newTestService(t, (*testRequest).accept)
	client := newTestClient(t, service)
	equal(t, accountOf(t, start(client, "one", Options{})), "one")
	until(t, "the connection is idle", func() bool { return len(idleOf(client)) == 1 })
	idle := idleOf(client)[0]
	service.all(t, 1)[0].end()
	until(t, "the end arrives", func() bool { return !isQuiet(idle.network) })
	equal(t, accountOf(t, start(client, "two", Options{})), "two")
	equal(t, service.all(t, 2)[1].number, 2)
}

func TestBytesAfterAResponseAnswerNoLaterQuestion(t *testing.T) {
	more := acceptedText("more")
	service := newTestService(t, func(request *testRequest) {
		body := `{"results":[` + more + `]}`
		response := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		request.send(strings.Repeat(response, request.number%2+1))
	})
	client := newTestClient(t, service)
	for range 4 {
		equal(t, accountOf(t, start(client, "key", Options{})), "more")
	}
	equal(t, service.all(t, 4)[1].number, 2)
}

func TestIdleConnectionsAndGoroutinesEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	service := newTestService(t, (*testRequest).accept)
	client := newTestClient(t, service)
	equal(t, accountOf(t, start(client, "key", Options{})), "key")
	client.CloseIdleConnections()
	// Those of the service: one that accepts connections.
	until(t, "all goroutines of the client end", func() bool {
		client.CloseIdleConnections()
		return runtime.NumGoroutine() <= before+1
	})
	equal(t, accountOf(t, start(client, "again", Options{})), "again")
}

func TestAnIdleConnectionEndsAfter30Seconds(t *testing.T) {
	service := newTestService(t, (*testRequest).accept)
	client := newTestClient(t, service)
	clock := clockOf(client)
	equal(t, accountOf(t, start(client, "key", Options{})), "key")
	until(t, "the connection is idle", func() bool { return len(idleOf(client)) == 1 })
	until(t, "it has a timer", func() bool { return len(clock.ends(ofIdleConnection)) == 1 })
	equal(t, clock.ends(ofIdleConnection), []time.Duration{30 * time.Second})
	clock.move(30*time.Second - 1)
	equal(t, len(idleOf(client)), 1)
	clock.move(1)
	until(t, "the connection ends", func() bool { return len(idleOf(client)) == 0 })
	equal(t, accountOf(t, start(client, "again", Options{})), "again")
	equal(t, service.all(t, 2)[1].number, 2)
}

func TestAnEndedContextAsksNothing(t *testing.T) {
	service := newTestService(t, never)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := newTestClient(t, service).Verify(ctx, "key", Options{})
	assertUnavailable(t, err, "context canceled")
	equal(t, len(service.all(t, 0)), 0)
}

func TestNoTextContainsACredential(t *testing.T) {
	service := newTestService(t, func(request *testRequest) { request.send("krv_secret\r\n\r\n") })
	client := newTestClient(t, service)
	_, err := client.Verify(context.Background(), "krv_secret", Options{})
	equal(t, err.Error(), "keyreeve: unavailable: the response is not HTTP, or it ended early")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
		equal(t, fmt.Sprintf(verb, client), fmt.Sprintf("keyreeve.Client(%s)", service.url))
	}
}

func TestACheckReadsNamesInAnyCaseAndShowsTheCauseOfA503(t *testing.T) {
	service := newTestService(t, (*testRequest).accept)
	client := newTestClient(t, service)
	check, err := client.NewCheck(CheckOptions{})
	equal(t, err, nil)
	accepted, refused := check.Request(context.Background(), map[string][]string{"authorization": {"Bearer key"}}, "")
	equal(t, refused == nil, true)
	equal(t, accepted.Result.AccountID, "key")
	two := map[string][]string{"authorization": {"Bearer key"}, "Authorization": {"Bearer key"}}
	accepted, refused = check.Request(context.Background(), two, "")
	equal(t, []any{accepted == nil, refused.Status, refused.Code}, []any{true, 401, "ambiguous_credentials"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, refused = check.Request(ctx, map[string][]string{"x-api-key": {"key"}}, "")
	equal(t, []any{refused.Status, errors.Is(refused.Cause, ErrUnavailable)}, []any{503, true})
	equal(t, len(service.all(t, 0)), 1)
	none, err := client.NewCheck(CheckOptions{Environments: []string{}})
	equal(t, []bool{none == nil, errors.Is(err, ErrInvalid)}, []bool{true, true})
}

func TestAHandlerWithoutAGuardHasNoResult(t *testing.T) {
	result, ok := ResultFrom(httptest.NewRequest("GET", "/", nil).Context())
	equal(t, []any{result, ok}, []any{Result{}, false})
}
