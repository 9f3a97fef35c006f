package keyreeve

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	exchangePath = "auth/oauth/token"
	grantType    = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	// Of an exchange, with the time of IdentityToken.
	exchangeTimeout = 30 * time.Second
	// After a failed renewal.
	exchangePause = 10 * time.Second
	// Of the life of a secret, in percent.
	renewedAfterPercent = 80
	secretSecondsMax    = 86_400
)

// ExchangeConfig is what a source of short-lived secrets needs.
type ExchangeConfig struct {
	// Of Keyreeve, such as https://auth.example.com.
	URL string
	// The id of the API key. 0: IdentityToken returns an assertion that the private key of a public-key key has signed.
	KeyID int64
	// Returns a fresh token, such as [GitHubToken]. It is called for each exchange.
	IdentityToken IdentityTokenFunc
	// The claim aud of the tokens. Default: URL, without a slash at its end.
	Audience string
	// Allows http: to other hosts than loopback.
	AllowPlainHTTP bool
	// For a certificate authority of your own. Default: the certificate authorities of the system.
	TLSConfig *tls.Config
	// Instead of TLSConfig: sends the requests, for example through a proxy.
	Transport http.RoundTripper
}

// ExchangedSecrets is a source of short-lived secrets of an API key with a trust, for a workload that stores no secret. It exchanges
// identity tokens (RFC 7523). Create one for each key in the whole program: any number of goroutines can use it.
type ExchangedSecrets struct {
	config    ExchangeConfig
	target    string
	transport http.RoundTripper
	clock     clock

	mutex  sync.Mutex
	held   *heldSecret
	flight *exchangeFlight
}

type heldSecret struct {
	secret         string
	renewsAt, ends time.Time
}

// exchangeFlight is an exchange in flight.
type exchangeFlight struct {
	// Closed when secret and err are set.
	done   chan struct{}
	secret string
	err    error
	// Callers that wait for it. It ends when the last one leaves.
	callers int
	cancel  context.CancelFunc
}

// Exchange returns an error, which is [ErrInvalid], if the URL or the id is malformed, IdentityToken is missing, or the URL is plain
// HTTP to another host than loopback.
func Exchange(config ExchangeConfig) (*ExchangedSecrets, error) {
	target, err := destinationOf(config.URL, config.AllowPlainHTTP, exchangePath)
	if err != nil {
		return nil, err
	}
	if config.KeyID < 0 || config.IdentityToken == nil {
		return nil, invalid("KeyID, IdentityToken: expected the id of a key, and a function")
	}
	if config.Audience == "" {
		config.Audience = strings.TrimRight(config.URL, "/")
	}
	transport, err := transportOf(config.Transport, config.TLSConfig)
	if err != nil {
		return nil, err
	}
	return &ExchangedSecrets{config: config, target: target.url.String(), transport: transport, clock: systemClock{}}, nil
}

// Format implements [fmt.Formatter] for all verbs, because the default one prints the secret.
func (s *ExchangedSecrets) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "keyreeve.ExchangedSecrets(%s)", s.config.URL)
}

// Secret returns a valid secret. After 80 % of its life, one caller waits for its successor; the others get the current one. If the
// exchange fails while the current one is valid, it is repeated 10 s later, or after Retry-After.
//
// The error is an [*Error], also without a secret within 30 s, or that of IdentityToken or of the context.
func (s *ExchangedSecrets) Secret(ctx context.Context) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	s.mutex.Lock()
	now := s.clock.now()
	if held := s.valid(now); held != nil && (s.flight != nil || now.Before(held.renewsAt)) {
		s.mutex.Unlock()
		return held.secret, nil
	}
	if s.flight == nil {
		s.flight = s.start()
	}
	flight := s.flight
	flight.callers++
	s.mutex.Unlock()

	select {
	case <-ctx.Done():
		s.leave(flight)
		return "", ctx.Err()
	case <-flight.done:
	}
	if flight.err == nil {
		return flight.secret, nil
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if held := s.valid(s.clock.now()); held != nil {
		return held.secret, nil
	}
	return "", flight.err
}

// Drop is for a secret that a service has rejected: the next call of Secret exchanges a token. It has no effect for an earlier secret.
func (s *ExchangedSecrets) Drop(secret string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.held != nil && s.held.secret == secret {
		s.held = nil
	}
}

// valid needs the mutex.
func (s *ExchangedSecrets) valid(now time.Time) *heldSecret {
	if s.held == nil || !now.Before(s.held.ends) {
		return nil
	}
	return s.held
}

func (s *ExchangedSecrets) leave(flight *exchangeFlight) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	flight.callers--
	if flight.callers == 0 {
		s.land(flight)
		flight.cancel()
	}
}

// land needs the mutex.
func (s *ExchangedSecrets) land(flight *exchangeFlight) {
	if s.flight == flight {
		s.flight = nil
	}
}

// start needs the mutex.
func (s *ExchangedSecrets) start() *exchangeFlight {
	ctx, cancel := s.clock.withTimeout(exchangeTimeout)
	flight := &exchangeFlight{done: make(chan struct{}), cancel: cancel}
	exchanged := make(chan exchangeOutcome, 1)
	go func() {
		held, err := s.exchange(ctx)
		exchanged <- exchangeOutcome{held, err}
	}()
	go func() {
		defer cancel()
		var outcome exchangeOutcome
		select {
		case outcome = <-exchanged:
		// The function of the program may ignore the context.
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			outcome = exchangeOutcome{err: &Error{Code: unavailableCode, cause: errors.New("no secret within 30s")}}
		}
		s.arrive(flight, outcome)
	}()
	return flight
}

type exchangeOutcome struct {
	held *heldSecret
	err  error
}

func (s *ExchangedSecrets) arrive(flight *exchangeFlight, outcome exchangeOutcome) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.land(flight)
	if outcome.err == nil {
		s.held = outcome.held
		flight.secret = outcome.held.secret
	} else if pausesUntil := s.clock.now().Add(pauseAfter(outcome.err)); s.held != nil && s.held.renewsAt.Before(pausesUntil) {
		s.held.renewsAt = pausesUntil
	}
	flight.err = outcome.err
	close(flight.done)
}

func pauseAfter(err error) time.Duration {
	var failure *Error
	if !errors.As(err, &failure) || failure.RetryAfterSeconds == nil {
		return exchangePause
	}
	return max(exchangePause, time.Duration(*failure.RetryAfterSeconds)*time.Second)
}

func (s *ExchangedSecrets) exchange(ctx context.Context) (*heldSecret, error) {
	token, err := s.config.IdentityToken(ctx, s.config.Audience)
	if err != nil {
		return nil, fmt.Errorf("IdentityToken: %w", err)
	}
	if token == "" {
		return nil, errors.New("IdentityToken: the function has returned no token")
	}
	form := url.Values{"grant_type": {grantType}, "assertion": {token}}
	if s.config.KeyID != 0 {
		form.Set("client_id", strconv.FormatInt(s.config.KeyID, 10))
	}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "User-Agent": {userAgent}}
	start := s.clock.now()
	received, err := roundTrip(ctx, s.transport, http.MethodPost, s.target, header, form.Encode())
	switch {
	case err != nil:
		return nil, &Error{Code: unavailableCode, cause: err}
	case received.status < http.StatusOK || received.status >= http.StatusMultipleChoices:
		return nil, errorOf(received)
	}
	return heldSecretOf(received, start)
}

// otherForm has no content, which may have a secret.
func otherForm(received answer) *Error {
	return &Error{Status: received.status, Code: unavailableCode, Detail: "the response has another form than expected"}
}

func heldSecretOf(received answer, start time.Time) (*heldSecret, error) {
	var issued struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int64  `json:"expires_in"`
	}
	err := json.Unmarshal(received.text, &issued)
	isLife := issued.ExpiresIn > 0 && issued.ExpiresIn <= secretSecondsMax
	if err != nil || !serviceKeyForm.MatchString(issued.AccessToken) || !isLife {
		return nil, otherForm(received)
	}
	life := time.Duration(issued.ExpiresIn) * time.Second
	renewsAt := start.Add(life * renewedAfterPercent / 100)
	return &heldSecret{secret: issued.AccessToken, renewsAt: renewsAt, ends: start.Add(life)}, nil
}
