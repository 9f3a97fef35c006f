package keyreeve

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"
	"unicode"
)

const (
	devicePath      = "auth/oauth/device"
	revocationPath  = "auth/oauth/revoke"
	deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code"
	// RFC 8628 sections 3.2 and 3.5.
	deviceInterval = 5
	deviceSlower   = 5 * time.Second
	// Of a poll. With the pause, so short that three polls reach the service while it repeats the response that was lost.
	devicePollTimeout = 12 * time.Second
	devicePauseMax    = 20 * time.Second
	// While the service repeats a lost response.
	deviceRepeat     = time.Minute
	deviceSecondsMax = 86_400
	// 100 years.
	keySecondsMax = 3_155_760_000
	expiredCode   = "expired_token"
)

// Nothing that would control a terminal.
var (
	userCodeForm = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)
	scopesForm   = regexp.MustCompile(`^[\x20-\x7E]*$`)
	// Without user name: a link to another host could look like one to the service.
	linkForm = regexp.MustCompile(`^https?://[A-Za-z0-9._:\[\]-]{1,300}(?:[/?#][\x21-\x7E]{0,999})?$`)
)

// DeviceLoginConfig has the settings of [DeviceLogin].
type DeviceLoginConfig struct {
	// The URL of Keyreeve, such as https://auth.example.com.
	URL string
	// The id of the program, which an operator has declared.
	ClientID string
	// Default: all scopes of the program.
	Scopes []string
	// Returns the QR code of the link as text. It is printed below the link.
	QRCode func(link string) (string, error)
	// Shows the link and the code. Default: they are printed on the standard error.
	Show func(DeviceCode) error
	// Allows http: to other hosts than loopback.
	AllowPlainHTTP bool
	// For a certificate authority of your own. Default: the certificate authorities of the system.
	TLSConfig *tls.Config
	// Instead of TLSConfig: sends the requests, for example through a proxy.
	Transport http.RoundTripper
}

// DeviceCode is what the person needs to approve the sign-in.
type DeviceCode struct {
	// The person compares it with the code that the page shows.
	UserCode string
	// The page on which the person enters the code.
	VerificationURI string
	// The same page, with the code.
	Link      string
	ExpiresIn time.Duration
}

// DeviceKey is the API key of the person.
type DeviceKey struct {
	// The secret: send it as a Bearer token.
	Key      string
	KeyID    int64
	Nickname string
	// The scopes that the person has approved.
	Scopes []string
	// By the clock of this machine.
	ExpiresAt time.Time
}

// Format implements [fmt.Formatter] for all verbs, because the default one prints the secret.
func (k DeviceKey) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "keyreeve.DeviceKey(%d)", k.KeyID)
}

// DeviceLogin signs a person in from a command line (RFC 8628). It prints the link and the code on the standard error, waits until
// the person has approved, and returns the API key.
//
// The error is [ErrInvalid] for a malformed configuration, an [*Error], or that of the context or of a function of the configuration.
// The codes are access_denied, expired_token, invalid_client, invalid_scope, too_many_device_requests, and unavailable without a
// response. Failures of polls are repeated until the code has expired.
func DeviceLogin(ctx context.Context, config DeviceLoginConfig) (DeviceKey, error) {
	return deviceLogin(ctx, config, systemClock{}, os.Stderr)
}

// DeviceLogout deletes the key at the service, which rejects it from then on. The error is nil also if the key has been deleted before.
// After an error, the key may still be valid.
//
// It uses the members of the configuration that are about the service and the program. The error is as of [DeviceLogin]: the codes are
// invalid_client, invalid_grant for a key that the program has not made, and unavailable: try again.
func DeviceLogout(ctx context.Context, config DeviceLoginConfig, key string) error {
	if key == "" {
		return invalid("key: expected an API key")
	}
	session, err := newDeviceSession(config, revocationPath, systemClock{})
	if err != nil {
		return err
	}
	session.form.Set("token", key)
	_, err = session.send(ctx, exchangeTimeout)
	return err
}

// deviceSession sends the requests of a sign-in or a sign-out.
type deviceSession struct {
	transport http.RoundTripper
	target    string
	form      url.Values
	clock     clock
	interval  time.Duration
}

func deviceLogin(ctx context.Context, config DeviceLoginConfig, clock clock, output io.Writer) (DeviceKey, error) {
	session, err := newDeviceSession(config, devicePath, clock)
	if err != nil {
		return DeviceKey{}, err
	}
	if len(config.Scopes) > 0 {
		session.form.Set("scope", strings.Join(config.Scopes, " "))
	}
	received, err := session.send(ctx, exchangeTimeout)
	if err != nil {
		return DeviceKey{}, err
	}
	code, err := session.begin(received, config)
	if err != nil {
		return DeviceKey{}, err
	}
	ends := clock.now().Add(code.ExpiresIn + deviceRepeat)
	if err := code.show(config, output); err != nil {
		return DeviceKey{}, err
	}
	return session.poll(ctx, ends)
}

func newDeviceSession(config DeviceLoginConfig, path string, clock clock) (*deviceSession, error) {
	target, err := destinationOf(config.URL, config.AllowPlainHTTP, path)
	if err != nil {
		return nil, err
	}
	if config.ClientID == "" {
		return nil, invalid("ClientID: expected the id of a program")
	}
	transport, err := transportOf(config.Transport, config.TLSConfig)
	if err != nil {
		return nil, err
	}
	form := url.Values{"client_id": {config.ClientID}}
	return &deviceSession{transport: transport, target: target.url.String(), form: form, clock: clock}, nil
}

// send returns a response of success. The error is that of the context of the caller, or an [*Error].
func (s *deviceSession) send(caller context.Context, timeout time.Duration) (answer, error) {
	limit, cancel := s.clock.withTimeout(timeout)
	defer cancel()
	ctx, leave := context.WithCancel(caller)
	defer leave()
	defer context.AfterFunc(limit, leave)()
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "User-Agent": {userAgent}}
	received, err := roundTrip(ctx, s.transport, http.MethodPost, s.target, header, s.form.Encode())
	switch {
	case err == nil && received.status >= http.StatusOK && received.status < http.StatusMultipleChoices:
		return received, nil
	case err == nil:
		return answer{}, errorOf(received)
	case caller.Err() != nil:
		return answer{}, caller.Err()
	case limit.Err() != nil:
		err = fmt.Errorf("no response within %v", timeout)
	}
	return answer{}, &Error{Code: unavailableCode, cause: err}
}

// begin turns the session to polls.
func (s *deviceSession) begin(received answer, config DeviceLoginConfig) (DeviceCode, error) {
	begun := struct {
		DeviceCode string `json:"device_code"`
		UserCode   string `json:"user_code"`
		URI        string `json:"verification_uri"`
		Link       string `json:"verification_uri_complete"`
		ExpiresIn  int64  `json:"expires_in"`
		Interval   int64  `json:"interval"`
	}{Interval: deviceInterval}
	err := json.Unmarshal(received.text, &begun)
	if begun.Link == "" {
		begun.Link = begun.URI
	}
	isText := serviceKeyForm.MatchString(begun.DeviceCode) && userCodeForm.MatchString(begun.UserCode) &&
		linkForm.MatchString(begun.URI) && linkForm.MatchString(begun.Link)
	isTime := begun.ExpiresIn > 0 && begun.ExpiresIn <= deviceSecondsMax && begun.Interval > 0 && begun.Interval <= deviceSecondsMax
	target, targetErr := destinationOf(config.URL, config.AllowPlainHTTP, exchangePath)
	if err != nil || !isText || !isTime || targetErr != nil {
		return DeviceCode{}, otherForm(received)
	}
	s.target = target.url.String()
	s.form = url.Values{"grant_type": {deviceGrantType}, "client_id": {config.ClientID}, "device_code": {begun.DeviceCode}}
	s.interval = time.Duration(begun.Interval) * time.Second
	return DeviceCode{begun.UserCode, begun.URI, begun.Link, time.Duration(begun.ExpiresIn) * time.Second}, nil
}

func (c DeviceCode) show(config DeviceLoginConfig, output io.Writer) error {
	if config.Show != nil {
		return config.Show(c)
	}
	drawn := ""
	if config.QRCode != nil {
		text, err := config.QRCode(c.Link)
		if err != nil {
			return fmt.Errorf("QRCode: %w", err)
		}
		drawn = "\n" + text + "\n"
	}
	_, err := fmt.Fprintf(output, "Open this link, and compare the code:\n\n  %s\n  %s\n%s\n", c.Link, c.UserCode, drawn)
	return err
}

func (s *deviceSession) poll(ctx context.Context, ends time.Time) (DeviceKey, error) {
	expired := &Error{Code: expiredCode, Detail: "the code has expired"}
	last, pause, failures := expired, s.interval, 0
	for !s.clock.now().Add(pause).After(ends) {
		if err := s.wait(ctx, pause); err != nil {
			return DeviceKey{}, err
		}
		received, err := s.send(ctx, devicePollTimeout)
		if err == nil {
			return deviceKeyOf(received)
		}
		var failure *Error
		if !errors.As(err, &failure) {
			return DeviceKey{}, err
		}
		switch {
		case failure.Code == "slow_down":
			s.interval += deviceSlower
			last, failures = expired, 0
		case failure.Code == "authorization_pending":
			last, failures = expired, 0
		case failure.isTemporary():
			last = failure
			failures++
		default:
			return DeviceKey{}, failure
		}
		pause = s.pauseAfter(failure, failures)
	}
	return DeviceKey{}, last
}

// pauseAfter doubles the interval with each failure (RFC 8628 section 3.5).
func (s *deviceSession) pauseAfter(failure *Error, failures int) time.Duration {
	pause := s.interval
	for ; failures > 0 && pause < devicePauseMax; failures-- {
		pause = min(2*pause, devicePauseMax)
	}
	if failure.RetryAfterSeconds != nil {
		pause = max(pause, time.Duration(*failure.RetryAfterSeconds)*time.Second)
	}
	return pause
}

func (s *deviceSession) wait(ctx context.Context, pause time.Duration) error {
	ended, stop := s.clock.timer(pause)
	defer stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-ended:
		return nil
	}
}

// isTemporary is true if the same poll can succeed later.
func (e *Error) isTemporary() bool {
	return e.Status == 0 || e.Status == http.StatusTooManyRequests || e.Status >= http.StatusInternalServerError
}

func deviceKeyOf(received answer) (DeviceKey, error) {
	var issued struct {
		AccessToken string  `json:"access_token"`
		KeyID       int64   `json:"key_id"`
		Nickname    *string `json:"nickname"`
		Scope       *string `json:"scope"`
		ExpiresIn   *int64  `json:"expires_in"`
	}
	err := json.Unmarshal(received.text, &issued)
	isWhole := issued.KeyID > 0 && issued.Nickname != nil && issued.Scope != nil &&
		issued.ExpiresIn != nil && *issued.ExpiresIn >= 0 && *issued.ExpiresIn <= keySecondsMax
	if err != nil || !isWhole || !serviceKeyForm.MatchString(issued.AccessToken) ||
		strings.ContainsFunc(*issued.Nickname, unicode.IsControl) || !scopesForm.MatchString(*issued.Scope) {
		return DeviceKey{}, otherForm(received)
	}
	return DeviceKey{
		Key:       issued.AccessToken,
		KeyID:     issued.KeyID,
		Nickname:  *issued.Nickname,
		Scopes:    strings.Fields(*issued.Scope),
		ExpiresAt: time.Now().Add(time.Duration(*issued.ExpiresIn) * time.Second),
	}, nil
}
