package keyreeve

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

// The codes of the problem documents of guards.
const (
	problemMissingCredential    = "missing_credential"
	problemInvalidCredential    = "invalid_credential"
	problemAmbiguousCredentials = "ambiguous_credentials"
	problemInsufficientScope    = "insufficient_scope"
	problemAddressUnknown       = "address_unknown"
	problemAddressNotAllowed    = "address_not_allowed"
	problemWrongEnvironment     = "wrong_environment"
	problemRateLimited          = "rate_limited"
	problemQuotaExceeded        = "quota_exceeded"
	problemUnavailable          = "unavailable"
)

const challengeBearer = `Bearer realm="keyreeve"`

// problemDocument (RFC 9457) is that of the service, without the id of its request.
type problemDocument struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Code   string `json:"code"`
}

var problems = map[string]problemDocument{
	problemMissingCredential: {
		Status: http.StatusUnauthorized,
		Title:  "A credential is required",
		Detail: "Send an API key or an access token as `Authorization: Bearer …`, or an API key as `X-API-Key: …`.",
	},
	problemInvalidCredential: {
		Status: http.StatusUnauthorized,
		Title:  "The credential is not valid",
		Detail: "The API key or access token is malformed, unknown, deleted, expired or disabled.",
	},
	problemAmbiguousCredentials: {
		Status: http.StatusUnauthorized,
		Title:  "The request carries more than one credential",
		Detail: "Send exactly one: one Authorization header or one X-API-Key header, with one value.",
	},
	problemInsufficientScope: {
		Status: http.StatusForbidden,
		Title:  "The credential lacks a scope",
		Detail: "The credential is valid, but it lacks a scope that this request needs. Add the scope to the key " +
			"with PATCH /auth/api-keys/{id}, or use another key.",
	},
	problemAddressUnknown: {
		Status: http.StatusForbidden,
		Title:  "The client IP is not known",
		Detail: "The key is limited to IP ranges, and the request contains no client IP from a trusted proxy, or " +
			"it is malformed. An operator sets KEYREEVE_TRUSTED_PROXIES.",
	},
	problemAddressNotAllowed: {
		Status: http.StatusForbidden,
		Title:  "The key is not valid from this IP address",
		Detail: "The key is limited to IP ranges, and the client IP is outside them.",
	},
	problemWrongEnvironment: {
		Status: http.StatusForbidden,
		Title:  "The key belongs to another environment",
		Detail: "The key is valid, but not in this environment: for example a test key in production.",
	},
	problemRateLimited: {
		Status: http.StatusTooManyRequests,
		Title:  "The rate limit is exceeded",
		Detail: "A rate limit of the key or its account has too few tokens left. Wait for the seconds in " +
			"Retry-After. Without Retry-After, the cost exceeds the burst.",
	},
	problemQuotaExceeded: {
		Status: http.StatusTooManyRequests,
		Title:  "The quota is used up",
		Detail: "A quota of the key or its account has too few tokens left. It starts again after the seconds in " +
			"Retry-After. Without Retry-After, waiting does not help.",
	},
	problemUnavailable: {
		Status: http.StatusServiceUnavailable,
		Title:  "Keyreeve is unavailable",
		Detail: "The database cannot be reached, or the instance is stopping. Keyreeve has no cache to answer " +
			"from. Wait for the seconds in Retry-After.",
	},
}

// Refusal is the response to a request that is not let through.
type Refusal struct {
	// 401, 403, 429 or 503.
	Status int
	// Of the problem document, such as "missing_credential".
	Code string
	// Of each refusal Content-Type, Content-Length and Cache-Control, of some WWW-Authenticate, Retry-After or the limits.
	Header http.Header
	// The problem document (RFC 9457) in JSON and UTF-8, for each method except HEAD.
	Body []byte
	// Of a 503, why the result is not known: [ErrUnavailable], or [context.Canceled] if the client has ended its request.
	Cause error
}

// Write sends the response. The server omits the body of a response to a HEAD request.
func (r *Refusal) Write(w http.ResponseWriter) {
	maps.Copy(w.Header(), r.Header)
	w.WriteHeader(r.Status)
	_, _ = w.Write(r.Body)
}

// problem makes a refusal. The scopes are those that the check requires.
func problem(code string, scopes []string) *Refusal {
	document := problems[code]
	document.Type, document.Code = "/problems/"+code, code
	// A document of texts and a number has a form in JSON.
	body, _ := json.Marshal(document)
	header := http.Header{}
	header.Set("Content-Type", "application/problem+json; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	if challenge := challengeOf(code, scopes); challenge != "" {
		header.Set("WWW-Authenticate", challenge)
	}
	return &Refusal{Status: document.Status, Code: code, Header: header, Body: body}
}

// challengeOf follows RFC 6750 section 3. The challenge of a missing scope names all required scopes.
func challengeOf(code string, scopes []string) string {
	switch code {
	case problemMissingCredential:
		return challengeBearer
	case problemInvalidCredential:
		return challengeBearer + `, error="invalid_token"`
	case problemAmbiguousCredentials:
		return challengeBearer + `, error="invalid_request"`
	case problemInsufficientScope:
		return challengeBearer + `, error="insufficient_scope", scope="` + strings.Join(scopes, " ") + `"`
	default:
		return ""
	}
}

// addBasic adds a Basic challenge to a 401, as the first one of the line: skopeo and Maven read no other.
func (r *Refusal) addBasic() {
	if r.Status == http.StatusUnauthorized {
		r.Header.Set("WWW-Authenticate", `Basic realm="keyreeve", charset="UTF-8", `+r.Header.Get("WWW-Authenticate"))
	}
}

// The result of the verification is not known.
func unavailableRefusal(cause error) *Refusal {
	refused := problem(problemUnavailable, nil)
	refused.Header.Set("Retry-After", "1")
	refused.Cause = cause
	return refused
}

// refusalOf answers with 403 and 429 if the credential is valid under other conditions. Every other one gets the same 401.
func refusalOf(result Result, scopes []string) *Refusal {
	switch result.Code {
	case problemInsufficientScope, problemAddressNotAllowed, problemWrongEnvironment:
		return problem(result.Code, scopes)
	case "address_required":
		return problem(problemAddressUnknown, scopes)
	case problemRateLimited, problemQuotaExceeded:
		refused := problem(result.Code, scopes)
		if result.RetryAfterSeconds != nil {
			refused.Header.Set("Retry-After", strconv.FormatInt(*result.RetryAfterSeconds, 10))
		}
		addLimits(refused.Header, result.Limits)
		return refused
	default:
		return problem(problemInvalidCredential, scopes)
	}
}

// addLimits follows draft-ietf-httpapi-ratelimit-headers-11. It adds nothing if neither the key nor its account has limits.
func addLimits(header http.Header, limits []RemainingLimit) {
	if limits == nil {
		return
	}
	policies, rests := make([]string, len(limits)), make([]string, len(limits))
	for index, limit := range limits {
		policies[index] = fmt.Sprintf("%q;q=%d%s", limit.Policy, limit.Limit, secondsOf("w", limit.WindowSeconds))
		rests[index] = fmt.Sprintf("%q;r=%d%s", limit.Policy, limit.Remaining, secondsOf("t", limit.ResetSeconds))
	}
	header.Set("RateLimit-Policy", strings.Join(policies, ", "))
	header.Set("RateLimit", strings.Join(rests, ", "))
}

func secondsOf(name string, seconds *int64) string {
	if seconds == nil {
		return ""
	}
	return fmt.Sprintf(";%s=%d", name, *seconds)
}
