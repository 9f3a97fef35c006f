package keyreeve

import (
	"context"
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
	// Returns the client IP, if a proxy is in front of the server. Text that is not an IP address counts as none. Default: the peer
	// of the connection.
	Address func(*http.Request) string
	// Called with the reason of each 503, for the log. The reason is [context.Canceled] if the client has ended its request.
	OnUnavailable func(*http.Request, error)
}

type resultKey struct{}

// ResultFrom returns the verification result of a request that a guard has let through. The second result is false if no guard is
// in front of the handler.
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
	conditions := Options{Scopes: options.Scopes, Environments: options.Environments, Cost: options.Cost}.clone()
	if err := conditions.check(); err != nil {
		panic(err)
	}
	addressOf := options.Address
	if addressOf == nil {
		addressOf = peerOf
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			result, refused := c.checkRequest(r, conditions, addressOf(r), options.OnUnavailable)
			if refused != nil {
				refused.write(w)
				return
			}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), resultKey{}, result)))
		})
	}
}

// checkRequest returns an accepted result or a refusal.
func (c *Client) checkRequest(
	r *http.Request, conditions Options, address string, onUnavailable func(*http.Request, error),
) (Result, *refusal) {
	presented, code := credentialOf(r.Header)
	if code != "" {
		return Result{}, problem(code, conditions.Scopes)
	}
	if isIPAddress(address) {
		conditions.Address = address
	}
	result, err := c.Verify(r.Context(), presented.text, conditions)
	switch {
	case err != nil:
		if onUnavailable != nil {
			onUnavailable(r, err)
		}
		return Result{}, unavailableRefusal()
	case !result.Valid:
		return Result{}, refusalOf(result, conditions.Scopes)
	case presented.isAPIKeyHeader && result.Type != typeAPIKey:
		// As at `/auth/forward`: X-API-Key is for API keys only.
		return Result{}, problem(problemInvalidCredential, conditions.Scopes)
	default:
		return result, nil
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
