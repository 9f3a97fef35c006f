package keyreeve

import (
	"context"
	"maps"
	"net"
	"net/http"
)

// GuardOptions are what a guard requires of each request.
type GuardOptions struct {
	// The credential must have all of them, at most 32. An access token has none.
	Scopes []string
	// The accepted environments, 1 to 8. Default: the first one of the installation.
	Environments []string
	// Tokens that a request spends from each limit, 0 to 10,000, made by [Cost]. Default: 1.
	Cost *int
	// Whether the response to an accepted request gets RateLimit and RateLimit-Policy.
	RateLimitFields bool
	// As in [CheckOptions].
	Basic bool
	// Returns the client IP, if a proxy is in front of the server. Text that is not an IP address counts as none. Default: the peer
	// of the connection.
	Address func(*http.Request) string
}

type resultKey struct{}

// ResultFrom returns the verification result of a request that a guard has let through, or that of [Accepted.Context]. The second
// result is false if the context has none.
func ResultFrom(ctx context.Context) (Result, bool) {
	result, ok := ctx.Value(resultKey{}).(Result)
	return result, ok
}

// Guard returns a middleware that lets a request through only with an accepted credential, in `Authorization: Bearer` or
// `X-API-Key`. It answers other requests with the problem document of the service. The handler behind it reads the result with
// [ResultFrom].
//
// Guard panics for options that the service rejects, like [http.ServeMux.Handle] does for a pattern.
func (c *Client) Guard(options GuardOptions) func(http.Handler) http.Handler {
	check, err := c.NewCheck(
		CheckOptions{options.Scopes, options.Environments, options.Cost, options.RateLimitFields, options.Basic},
	)
	if err != nil {
		panic(err)
	}
	addressOf := options.Address
	if addressOf == nil {
		addressOf = peerOf
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			accepted, refused := check.Request(r.Context(), r.Header, addressOf(r))
			if refused != nil {
				refused.Write(w)
				return
			}
			maps.Copy(w.Header(), accepted.Header)
			next.ServeHTTP(w, r.WithContext(accepted.Context(r.Context())))
		})
	}
}

// The IP address of the connection.
func peerOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	return host
}
