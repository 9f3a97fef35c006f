package keyreeve

import (
	"encoding/json"
	"time"
)

// Result is the verification result of a credential. Members that do not apply are zero.
type Result struct {
	Valid bool

	// The members of a valid credential.

	// "api_key" or "access_token".
	Type      string
	AccountID string
	// An access token has no key, nickname or scopes.
	KeyID    int64
	Nickname string
	// Nil for an access token.
	Scopes    []string
	ExpiresAt time.Time
	// Empty if the installation has no environments.
	Environment string
	// Nil if the key has no metadata.
	Metadata map[string]any

	// The members of a refused credential.

	// A later version of the service can have codes that this version of the library does not have.
	Code string
	// With "rate_limited" and "quota_exceeded". Nil if the request can never succeed.
	RetryAfterSeconds *int64
	// With "quota_exceeded". Zero if the request can never succeed.
	ResetsAt time.Time

	// Nil if neither the key nor its account has limits.
	Limits []RemainingLimit
}

// RemainingLimit has the remaining tokens of a limit, for RateLimit and RateLimit-Policy of your own response.
type RemainingLimit struct {
	// "key-rate", "key-quota", "account-rate" or "account-quota".
	Policy string `json:"policy"`
	// Tokens in a window or period.
	Limit     int64 `json:"limit"`
	Remaining int64 `json:"remaining"`
	// Nil for a quota without an end.
	WindowSeconds *int64 `json:"windowSeconds,omitempty"`
	// Until the limit is full again. Nil for a quota without an end.
	ResetSeconds *int64 `json:"resetSeconds,omitempty"`
}

const (
	typeAPIKey      = "api_key"
	typeAccessToken = "access_token"
	// The code of a result that the service does not know now. No caller of Verify receives it.
	unavailableCode = "unavailable"
)

// MarshalJSON returns the members that the HTTP API has.
func (r Result) MarshalJSON() ([]byte, error) {
	limits := optional(r.Limits != nil, r.Limits)
	if !r.Valid {
		return json.Marshal(struct {
			Valid             bool              `json:"valid"`
			Code              string            `json:"code"`
			RetryAfterSeconds *int64            `json:"retryAfterSeconds,omitempty"`
			ResetsAt          *string           `json:"resetsAt,omitempty"`
			Limits            *[]RemainingLimit `json:"limits,omitempty"`
		}{false, r.Code, r.RetryAfterSeconds, instantText(r.ResetsAt), limits})
	}
	return json.Marshal(struct {
		Valid       bool              `json:"valid"`
		Type        string            `json:"type"`
		AccountID   string            `json:"accountId"`
		KeyID       *int64            `json:"keyId"`
		Nickname    *string           `json:"nickname"`
		Scopes      []string          `json:"scopes"`
		ExpiresAt   *string           `json:"expiresAt"`
		Environment string            `json:"environment,omitempty"`
		Metadata    *map[string]any   `json:"metadata,omitempty"`
		Limits      *[]RemainingLimit `json:"limits,omitempty"`
	}{
		true, r.Type, r.AccountID, optional(r.KeyID != 0, r.KeyID), optional(r.Nickname != "", r.Nickname), r.Scopes,
		instantText(r.ExpiresAt), r.Environment, optional(r.Metadata != nil, r.Metadata), limits,
	})
}

func optional[T any](isPresent bool, value T) *T {
	if !isPresent {
		return nil
	}
	return &value
}

func instantText(instant time.Time) *string {
	return optional(!instant.IsZero(), instant.UTC().Format("2006-01-02T15:04:05.000Z"))
}
