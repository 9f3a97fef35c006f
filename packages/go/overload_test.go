package keyreeve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Many verifications at once, and failures: what callers and the log learn of them.

const step = 20 * time.Millisecond

// simulation has questions that wait, and a service with an injected clock: the part of the sender that decides, without goroutines.
type simulation struct {
	inFlight inFlight
	waiting  int
	duration func(before int) time.Duration
	most     int
	now      time.Time
}

type simulatedFlight struct {
	due   time.Time
	begun flight
}

func newSimulation(waiting int, duration func(before int) time.Duration) *simulation {
	return &simulation{waiting: waiting, duration: duration, now: time.Unix(0, 0)}
}

func (s *simulation) fullWaits() bool { return s.waiting >= questionsMax }

// serve returns how long the service takes for all questions.
func (s *simulation) serve() time.Duration {
	begun := s.now
	flights := []simulatedFlight{}
	for s.waiting > 0 || len(flights) > 0 {
		for s.waiting > 0 && s.inFlight.count < s.inFlight.limit(s.fullWaits()) {
			due := s.now.Add(s.duration(len(flights)))
			flights = append(flights, simulatedFlight{due, s.inFlight.start(s.now, s.fullWaits())})
			s.waiting -= min(questionsMax, s.waiting)
		}
		s.most = max(s.most, len(flights))
		s.now = s.now.Add(step)
		rest := []simulatedFlight{}
		for _, each := range flights {
			if each.due.After(s.now) {
				rest = append(rest, each)
			} else {
				s.inFlight.end(each.begun, s.now, s.fullWaits())
			}
		}
		flights = rest
	}
	return s.now.Sub(begun)
}

func slow(int) time.Duration { return 200 * time.Millisecond }

func TestRule6TheBatchesInFlightFollowAServiceWith200MsPerBatch(t *testing.T) {
	simulated := newSimulation(12_000, slow)
	if took := simulated.serve(); took >= deadline || simulated.most <= 4 || simulated.most > 16 {
		t.Fatal(took, simulated.most)
	}
}

func TestRule6AServiceThatWorksOnOneBatchAtATimeGetsFew(t *testing.T) {
	simulated := newSimulation(12_000, func(before int) time.Duration { return time.Duration(before+1) * 2 * step })
	if took := simulated.serve(); took >= deadline || simulated.most > 4 {
		t.Fatal(took, simulated.most)
	}
}

func TestRule6TheLimitFollowsAServiceThatBecomesSlowerAndOneThatFails(t *testing.T) {
	simulated := newSimulation(8_000, func(int) time.Duration { return step })
	simulated.serve()
	for range 4 {
		simulated.inFlight.end(simulated.inFlight.start(simulated.now, true), time.Time{}, true)
	}
	equal(t, simulated.inFlight.limit(true), 2)
	simulated.waiting, simulated.duration = 12_000, slow
	if took := simulated.serve(); took >= deadline {
		t.Fatal(took)
	}
}

func TestRule6TheSenderUsesTheLimit(t *testing.T) {
	service := newTestService(t, never)
	client := newTestClient(t, service)
	asked := questionsOf(t, numbersTo(10*questionsMax))
	fill(t, client, service, Options{})
	started := join(client, asked)
	service.all(t, 2)[0].accept()
	service.all(t, 3)[1].accept()
	service.all(t, 3)[2].accept()
	most := 0
	for count := 4; count <= 12; count++ {
		request := service.all(t, count)[count-1]
		most = max(most, sending(client))
		request.accept()
	}
	for index, each := range started {
		received := <-each
		equal(t, []any{received.err, received.result.AccountID}, []any{nil, fmt.Sprint(index)})
	}
	if most <= 2 || most > 16 {
		t.Fatal(most)
	}
	until(t, "all goroutines end", func() bool { return sending(client) == 0 })
	equal(t, []int{waiting(client), client.sender.inFlight.count}, []int{0, 0})
}

func TestRule6InAnOverloadAQuestionThatWouldBeLateIsNotSent(t *testing.T) {
	service := newTestService(t, never)
	client := newTestClient(t, service)
	fill(t, client, service, Options{})
	old := join(client, questionsOf(t, numbersTo(questionsMax)))
	clockOf(client).move(2 * time.Second)
	young := join(client, questionsOf(t, append([]string{"young"}, numbersTo(questionsMax)[1:]...)))
	service.all(t, 2)[0].accept()
	third := service.all(t, 3)[2]
	equal(t, third.credentials()[0], "young")
	// A batch takes 2 s, and the old questions have waited for 2 s of 3.
	for _, each := range old {
		assertUnavailable(t, (<-each).err, "no result in time: a batch takes 2s")
	}
	third.accept()
	for _, each := range young {
		equal(t, (<-each).err, nil)
	}
}

func TestAnErrorHasTheStatusAndTheCodeOfTheServiceAndRetryAfter(t *testing.T) {
	for _, row := range []struct {
		head, body string
		expected   string
	}{
		{"429 X\r\nRetry-After: 7", `{"code":"too_many_in_progress"}`, "429 too_many_in_progress 7"},
		{"401 X", `{"code":"invalid_credential","detail":"No."}`, "401 invalid_credential -1"},
		{"502 X\r\nRetry-After: Sun, 29 Nov 2026 21:00:00 GMT", "<html>", "502 unavailable -1"},
	} {
		text := fmt.Sprintf("HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", row.head, len(row.body), row.body)
		service := newTestService(t, func(request *testRequest) { request.send(text) })
		_, err := newTestClient(t, service).Verify(context.Background(), "key", Options{})
		var failure *Error
		if !errors.Is(err, ErrUnavailable) || !errors.As(err, &failure) {
			t.Fatal(err)
		}
		seconds := int64(-1)
		if failure.RetryAfterSeconds != nil {
			seconds = *failure.RetryAfterSeconds
		}
		equal(t, fmt.Sprint(failure.Status, " ", failure.Code, " ", seconds), row.expected)
	}
}

func TestAnOutageHasOneMessagePerMinute(t *testing.T) {
	var isDown atomic.Bool
	isDown.Store(true)
	service := newTestService(t, func(request *testRequest) {
		if isDown.Load() {
			request.send("HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n")
		} else {
			request.accept()
		}
	})
	var text bytes.Buffer
	client := newClientOf(t, Config{URL: service.url, ServiceKey: testKey, Logger: slog.New(slog.NewTextHandler(&text, nil))})
	logged := func() []string {
		found := []string{}
		for _, line := range strings.Split(strings.TrimSpace(text.String()), "\n") {
			_, message, _ := strings.Cut(line, `msg="keyreeve: unavailable: the service answered 503 `)
			found = append(found, strings.TrimSuffix(message, `"`))
		}
		return found
	}
	fail := func(count int) {
		for range count {
			_, err := client.Verify(context.Background(), "key", Options{})
			assertUnavailable(t, err, "503")
		}
	}
	fail(3)
	clockOf(client).move(time.Minute - 1)
	fail(2)
	equal(t, logged(), []string{"(1 verification failed)"})
	clockOf(client).move(1)
	fail(5)
	clockOf(client).move(90 * time.Second)
	// A caller that leaves is no failure of the service.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := client.Verify(ctx, "key", Options{})
	assertUnavailable(t, err, "context canceled")
	isDown.Store(false)
	equal(t, accountOf(t, start(client, "key", Options{})), "key")
	equal(t, logged()[1:], []string{"(5 verifications failed in 60 s)", "(4 verifications failed in 90 s)"})
}

func TestAServiceKeyCanChangeInARunningProcess(t *testing.T) {
	service := newTestService(t, (*testRequest).accept)
	path := filepath.Join(t.TempDir(), "key")
	write := func(text string) {
		equal(t, os.WriteFile(path, []byte(text), 0o600), nil)
	}
	client := newClientOf(t, Config{URL: service.url, ServiceKeyFunc: KeyFromFile(path)})
	client.outages.logger = slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil))
	_, err := client.Verify(context.Background(), "key", Options{})
	assertUnavailable(t, err, "no such file")
	equal(t, errors.Is(err, os.ErrNotExist), true)
	write("a\nb")
	_, err = client.Verify(context.Background(), "key", Options{})
	assertUnavailable(t, err, "the function has returned no API key")
	sent := []string{}
	for _, text := range []string{"krv_first\n", "krv_second"} {
		write(text)
		equal(t, accountOf(t, start(client, "key", Options{})), "key")
		requests := service.all(t, len(sent)+1)
		sent = append(sent, requests[len(sent)].authorization)
	}
	equal(t, sent, []string{"Bearer krv_first", "Bearer krv_second"})
	for _, config := range []Config{{}, {ServiceKey: testKey, ServiceKeyFunc: KeyFromFile(path)}} {
		config.URL = service.url
		_, err := New(config)
		equal(t, errors.Is(err, ErrInvalid), true)
	}
}

type countingTransport struct{ calls int }

func (c *countingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	c.calls++
	return http.DefaultTransport.RoundTrip(request)
}

func TestATransportOfTheProgramSendsTheRequestsAndNothingIsRepeated(t *testing.T) {
	service := newTestService(t, (*testRequest).accept)
	counting := &countingTransport{}
	client := newClientOf(t, Config{URL: service.url, ServiceKey: testKey, Transport: counting})
	equal(t, accountOf(t, start(client, "key", free())), "key")
	equal(t, []any{counting.calls, service.all(t, 1)[0].authorization}, []any{1, "Bearer " + testKey})
	closing := newTestService(t, (*testRequest).end)
	client = newClientOf(t, Config{URL: closing.url, ServiceKey: testKey, Transport: http.DefaultTransport})
	_, err := client.Verify(context.Background(), "key", free())
	assertUnavailable(t, err, "EOF")
	equal(t, len(closing.all(t, 1)), 1)
}

func TestTheIDOfAServiceAccountLeadsToNoOtherPath(t *testing.T) {
	management, err := NewManagement(ManagementConfig{URL: "https://auth.example.com", ManagementKey: testKey})
	equal(t, err, nil)
	for _, id := range []string{"..", "a/b", "a?b", ""} {
		_, err := management.GetServiceAccount(context.Background(), id)
		equal(t, errors.Is(err, ErrInvalid), true)
	}
	equal(t, fmt.Sprintf("%v %+v", management, CreatedKey{ID: 1, Key: "krv_secret"}),
		"keyreeve.Management(https://auth.example.com) keyreeve.CreatedKey(1)")
}

func TestASuccessWithoutContentIsNoPortalSession(t *testing.T) {
	for _, body := range []string{"", "<html>"} {
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(body))
		}))
		defer service.Close()
		management, err := NewManagement(ManagementConfig{URL: service.URL, ManagementKey: testKey})
		equal(t, err, nil)
		_, err = management.CreatePortalSession(context.Background(), NewPortalSession{ExternalID: "tenant_182"})
		var failure *Error
		equal(t, errors.As(err, &failure) && failure.Status == http.StatusCreated && failure.Code == unavailableCode, true)
	}
}
