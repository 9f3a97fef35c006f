package keyreeve

import (
	"context"
	"net/http"
)

// CheckOptions are what a check requires of each request.
type CheckOptions struct {
	// The credential must have all of them, at most 32. An access token has none.
	Scopes []string
	// The accepted environments, 1 to 8. Default: the first one of the installation.
	Environments []string
	// Tokens that a request spends from each limit, 0 to 10,000, made by [Cost]. 0 only checks the limits. Default: 1.
	Cost *int
	// Whether the response to an accepted request gets RateLimit and RateLimit-Policy.
	RateLimitFields bool
	// Whether an API key may also be a Basic credential, for docker, Maven, pip and git: the password with any user name, or the user
	// name with an empty password. A browser shows a sign-in dialog for the challenge.
	Basic bool
}

// Check checks the requests of an application, with any framework. Any number of goroutines can use it.
type Check struct {
	client       *Client
	conditions   Options
	passesOn     bool
	acceptsBasic bool
}

// Accepted is the outcome of a request with an accepted credential.
type Accepted struct {
	Result Result
	// For your own response: RateLimit and RateLimit-Policy if [CheckOptions.RateLimitFields] is true and the key has limits, or
	// none.
	Header http.Header
}

// Context returns a context from which [ResultFrom] returns the result.
func (a *Accepted) Context(parent context.Context) context.Context {
	return context.WithValue(parent, resultKey{}, a.Result)
}

// NewCheck returns an error, which is [ErrInvalid], for options that the service rejects.
func (c *Client) NewCheck(options CheckOptions) (*Check, error) {
	conditions := Options{Scopes: options.Scopes, Environments: options.Environments, Cost: options.Cost}.clone()
	if err := conditions.check(); err != nil {
		return nil, err
	}
	return &Check{c, conditions, options.RateLimitFields, options.Basic}, nil
}

// Request checks a request with a question that the service receives after this call. Exactly one of the results is not nil.
//
// The credential is in `Authorization: Bearer` or `X-API-Key` of the header, whose names have any case: an [http.Header] or the
// metadata of gRPC. The address is the client IP, for keys that are limited to IP ranges; text that is not an IP address counts
// as none.
//
// The refusal is 401, 403 or 429, and 503 if the result is not known within 3 s or before the context ends.
func (c *Check) Request(ctx context.Context, header map[string][]string, address string) (*Accepted, *Refusal) {
	accepted, refused := c.request(ctx, header, address)
	if refused != nil && c.acceptsBasic {
		refused.addBasic()
	}
	return accepted, refused
}

func (c *Check) request(ctx context.Context, header map[string][]string, address string) (*Accepted, *Refusal) {
	conditions := c.conditions
	presented, code := credentialOf(header, c.acceptsBasic)
	if code != "" {
		return nil, problem(code, conditions.Scopes)
	}
	if isIPAddress(address) {
		conditions.Address = address
	}
	result, err := c.client.Verify(ctx, presented.text, conditions)
	switch {
	case err != nil:
		return nil, unavailableRefusal(err)
	case !result.Valid:
		return nil, refusalOf(result, conditions.Scopes)
	case presented.isKeyOnly && result.Type != typeAPIKey:
		// As at `/auth/forward`.
		return nil, problem(problemInvalidCredential, conditions.Scopes)
	}
	accepted := &Accepted{Result: result, Header: http.Header{}}
	if c.passesOn {
		addLimits(accepted.Header, result.Limits)
	}
	return accepted, nil
}
