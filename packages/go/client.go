package keyreeve

import (
	"context"
	"crypto/tls"
	"fmt"
	"regexp"
)

var serviceKeyForm = regexp.MustCompile(`^[\x21-\x2B\x2D-\x7E]+$`)

// Config is what a client needs of a service.
type Config struct {
	// Of Keyreeve, such as https://auth.example.com.
	URL string
	// An API key with the scope keyreeve:verify.
	ServiceKey string
	// Allows http: to other hosts than loopback. The service key and all credentials are then sent unencrypted.
	AllowPlainHTTP bool
	// For a certificate authority of your own. Default: the certificate authorities of the system.
	TLSConfig *tls.Config
}

// Client verifies credentials. Create one for the whole program: any number of goroutines can use it.
type Client struct {
	url    string
	sender *batchSender
}

// New returns an error, which is [ErrInvalid], if the URL or the service key is malformed, or the URL is plain HTTP to another
// host than loopback.
func New(config Config) (*Client, error) {
	if !serviceKeyForm.MatchString(config.ServiceKey) {
		return nil, invalid("ServiceKey: expected an API key")
	}
	target, err := destinationOf(config.URL, config.AllowPlainHTTP)
	if err != nil {
		return nil, err
	}
	dial := newDialer(target, config.ServiceKey, config.TLSConfig)
	return &Client{url: config.URL, sender: newBatchSender(dial, systemClock{})}, nil
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
	return c.sender.ask(ctx, asked)
}

// CloseIdleConnections closes the connections that no request uses. The client can still be used.
func (c *Client) CloseIdleConnections() {
	c.sender.closeIdle()
}

// Format implements [fmt.Formatter] for all verbs, because the default one prints the service key.
func (c *Client) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "keyreeve.Client(%s)", c.url)
}
