package keyreeve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// askedToken is a call of IdentityToken, which the test answers.
type askedToken struct {
	ctx  context.Context
	give chan string
}

// newHeldSource returns a source whose tokens the test gives.
func newHeldSource(t *testing.T, url string) (*ExchangedSecrets, chan askedToken) {
	t.Helper()
	asked := make(chan askedToken)
	source, err := Exchange(ExchangeConfig{URL: url, KeyID: 1, IdentityToken: func(ctx context.Context, _ string) (string, error) {
		call := askedToken{ctx, make(chan string)}
		asked <- call
		return <-call.give, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return source, asked
}

func startSecret(ctx context.Context, source *ExchangedSecrets) chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := source.Secret(ctx)
		ended <- err
	}()
	return ended
}

func callersOf(source *ExchangedSecrets) int {
	source.mutex.Lock()
	defer source.mutex.Unlock()
	if source.flight == nil {
		return 0
	}
	return source.flight.callers
}

func TestACallerThatLeavesEndsOnlyItsOwnWaitAndTheLastOneEndsTheExchange(t *testing.T) {
	source, asked := newHeldSource(t, "https://auth.example.com")
	first, leaveFirst := context.WithCancel(context.Background())
	second, leaveSecond := context.WithCancel(context.Background())
	ended := []chan error{startSecret(first, source), startSecret(second, source)}
	call := <-asked
	until(t, "both callers wait", func() bool { return callersOf(source) == 2 })
	leaveFirst()
	equal(t, <-ended[0], context.Canceled)
	equal(t, call.ctx.Err(), nil)
	leaveSecond()
	equal(t, <-ended[1], context.Canceled)
	<-call.ctx.Done()
	// Does not join the exchange that has ended.
	third := startSecret(context.Background(), source)
	other := <-asked
	close(call.give)
	other.give <- ""
	if err := <-third; err == nil || err.Error() != "IdentityToken: the function has returned no token" {
		t.Fatal(err)
	}
	if _, err := source.Secret(first); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestASourceShowsNoSecret(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"access_token":"krvt_1","token_type":"Bearer","expires_in":600}`)
	}))
	defer server.Close()
	source, asked := newHeldSource(t, server.URL)
	go func() { (<-asked).give <- "token" }()
	equal(t, must(source.Secret(context.Background())), "krvt_1")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, source); strings.Contains(text, "krvt_") {
			t.Fatal(text)
		}
	}
}

func TestOptionsOfAnExchangeThatCannotLeadToAKeyAreErrors(t *testing.T) {
	token := func(context.Context, string) (string, error) { return "token", nil }
	for _, config := range []ExchangeConfig{
		{URL: "http://auth.example.com", IdentityToken: token},
		{URL: "https://auth.example.com"},
		{URL: "https://auth.example.com", KeyID: -1, IdentityToken: token},
	} {
		if _, err := Exchange(config); !errors.Is(err, ErrInvalid) {
			t.Fatal(err)
		}
	}
}
