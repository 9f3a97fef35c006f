package keyreeve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
)

// Config is what a client needs of a service.
type Config struct {
	// Of Keyreeve, such as https://auth.example.com.
	URL string
	// An API key with the scope keyreeve:verify.
	ServiceKey string
	// Instead of ServiceKey: returns the current one, such as [KeyFromFile].
	ServiceKeyFunc KeyFunc
	// Allows http: to other hosts than loopback. The service key and all credentials are then sent unencrypted.
	AllowPlainHTTP bool
	// For a certificate authority of your own. Default: the certificate authorities of the system.
	TLSConfig *tls.Config
	// Instead of the connections of the client, for example for a proxy: an [http.Transport], or one that wraps it. Nothing is repeated
	// then.
	Transport http.RoundTripper
	// Gets one message per minute while verifications fail, with their number and the last reason. Default: [slog.Default].
	Logger *slog.Logger
}

// Client verifies credentials. Create one for the whole program: any number of goroutines can use it.
type Client struct {
	url     string
	sender  *batchSender
	outages *outageLog
}

// New returns an error, which is [ErrInvalid], if the URL or the service key is malformed, or the URL is plain HTTP to another
// host than loopback.
func New(config Config) (*Client, error) {
	authorization, err := authorizationOf("ServiceKey", config.ServiceKey, config.ServiceKeyFunc)
	if err != nil {
		return nil, err
	}
	target, err := destinationOf(config.URL, config.AllowPlainHTTP, "auth/verify/batch")
	if err != nil {
		return nil, err
	}
	if config.Transport != nil && config.TLSConfig != nil {
		return nil, invalid("TLSConfig: expected none beside Transport, which has one of its own")
	}
	return &Client{
		url: config.URL,
		sender: &batchSender{
			dial: newDialer(target, config.TLSConfig), authorization: authorization, roundTripper: config.Transport, target: target,
			clock: systemClock{}, joinable: map[string]*batch{},
		},
		outages: &outageLog{logger: config.Logger, clock: systemClock{}},
	}, nil
}

// Verify verifies a credential with a question that the service receives after this call.
//
// A refused credential is a result. The error is [ErrUnavailable] if the result is not known within 3 s or before the context
// ends: reject the credential. It is [ErrInvalid] for options that the service rejects.
func (c *Client) Verify(ctx context.Context, credential string, options Options) (Result, error) {
	if err := options.check(); err != nil {
		return Result{}, err
	}
	if !canBeCredential(credential) {
		return Result{Code: "malformed"}, nil
	}
	asked, err := questionOf(credential, options)
	if err != nil {
		return Result{}, unavailableBecause(err)
	}
	result, err := c.sender.ask(ctx, asked)
	switch {
	case err == nil:
		c.outages.succeeded()
	case !errors.Is(err, context.Canceled):
		c.outages.failed(err)
	}
	return result, err
}

// CloseIdleConnections closes the connections that no request uses. The client can still be used.
func (c *Client) CloseIdleConnections() {
	c.sender.closeIdle()
}

// Format implements [fmt.Formatter] for all verbs, because the default one prints the service key.
func (c *Client) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "keyreeve.Client(%s)", c.url)
}
