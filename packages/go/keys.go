package keyreeve

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Keys are the API keys of a service account. [Management.Keys] makes it.
type Keys struct {
	management *Management
	path       string
}

// KeyLimits are the limits of a key or an account. A verification spends one token of each, or as many as its cost.
type KeyLimits struct {
	Rate  *RateLimit `json:"rate,omitempty"`
	Quota *Quota     `json:"quota,omitempty"`
}

// RateLimit is a bucket of Burst tokens, which is refilled with Limit tokens in each window.
type RateLimit struct {
	Limit         int64 `json:"limit"`
	WindowSeconds int64 `json:"windowSeconds"`
	// 0: Limit.
	Burst int64 `json:"burst,omitempty"`
}

// Quota has the tokens of a period.
type Quota struct {
	Limit int64 `json:"limit"`
	// "day" or "month" in UTC, or "ever".
	Per string `json:"per"`
}

// QuotaUse is what is used of a quota.
type QuotaUse struct {
	Used int64 `json:"used"`
	// Zero: never.
	ResetsAt time.Time `json:"resetsAt"`
}

// NewKey has the members of a new key.
type NewKey struct {
	// Unique among the keys of the account.
	Nickname string   `json:"nickname"`
	Scopes   []string `json:"scopes,omitempty"`
	// Nil: as late as the installation allows.
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
	// IP addresses and ranges. Nil: any.
	Addresses   []string       `json:"addresses,omitempty"`
	Limits      *KeyLimits     `json:"limits,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	Environment string         `json:"environment,omitempty"`
	// Of an existing secret, in hexadecimal. The created key has no Key then.
	SHA256 string `json:"sha256,omitempty"`
}

// KeyChange has the changed members. Nil keeps a value.
type KeyChange struct {
	Nickname  *string        `json:"nickname,omitempty"`
	Scopes    *[]string      `json:"scopes,omitempty"`
	ExpiresAt *time.Time     `json:"expiresAt,omitempty"`
	Addresses []string       `json:"addresses,omitempty"`
	Limits    *KeyLimits     `json:"limits,omitempty"`
	Metadata  map[string]any `json:"metadata,omitempty"`
	Disabled  *bool          `json:"disabled,omitempty"`
	// Names of the values to remove: "expiresAt", "addresses", "limits" or "metadata".
	Remove []string `json:"-"`
}

// CreatedKey has the secret of a new key.
type CreatedKey struct {
	ID       int64  `json:"id"`
	Nickname string `json:"nickname"`
	// The secret. No other response has it.
	Key       string    `json:"key"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// Format implements [fmt.Formatter] for all verbs, because the default one prints the secret.
func (c CreatedKey) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "keyreeve.CreatedKey(%d)", c.ID)
}

// RotatedKey has the new secret of a key.
type RotatedKey struct {
	CreatedKey
	// Zero without an overlap.
	PreviousExpiresAt time.Time `json:"previousExpiresAt"`
}

// Rotation has the options of a rotation.
type Rotation struct {
	// For how long the previous secret stays valid. Nil: a day.
	OverlapSeconds *int64 `json:"overlapSeconds,omitempty"`
	EndPrevious    bool   `json:"endPrevious,omitempty"`
}

// KeySummary is a key in a page of a list. Values that do not apply are zero.
type KeySummary struct {
	ID          int64     `json:"id"`
	Nickname    string    `json:"nickname"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
	Scopes      []string  `json:"scopes"`
	ExpiresAt   time.Time `json:"expiresAt"`
	DisabledAt  time.Time `json:"disabledAt"`
	LastUsedAt  time.Time `json:"lastUsedAt"`
	Environment string    `json:"environment"`
	// The prefix and the last characters of the secret.
	Hint string `json:"hint"`
}

// KeyDetails are all members of a key.
type KeyDetails struct {
	KeySummary
	ShownLimits
	Addresses []string       `json:"addresses"`
	Metadata  map[string]any `json:"metadata"`
}

// KeyQuery selects keys, and a page of them.
type KeyQuery struct {
	// Part of the nickname, or the last characters of the hint.
	Search string
	// "active", "expiring", "expired" or "disabled".
	State string
	// "created", "nickname", "lastUsed" or "expires"; with "-", descending. Default: "created".
	Sort string
	PageQuery
}

// Create creates a key.
func (k *Keys) Create(ctx context.Context, key NewKey) (CreatedKey, error) {
	return call[CreatedKey](ctx, k.management, http.MethodPost, k.path, key)
}

// Page returns a page of the keys.
func (k *Keys) Page(ctx context.Context, query KeyQuery) (Page[KeySummary], error) {
	values := query.values()
	values.Set("view", "full")
	for name, value := range map[string]string{"search": query.Search, "state": query.State, "sort": query.Sort} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if query.Limit == 0 {
		values.Set("limit", "100")
	}
	type list struct {
		APIKeys    []KeySummary `json:"apiKeys"`
		NextCursor string       `json:"nextCursor"`
	}
	read, err := call[list](ctx, k.management, http.MethodGet, k.path+"?"+values.Encode(), nil)
	return Page[KeySummary]{read.APIKeys, read.NextCursor}, err
}

// List returns all keys, page by page, for a range statement.
func (k *Keys) List(ctx context.Context, query KeyQuery) func(yield func(KeySummary, error) bool) {
	return entriesOf(func(cursor string) (Page[KeySummary], error) {
		query.Cursor = cursor
		return k.Page(ctx, query)
	})
}

// Get returns a key.
func (k *Keys) Get(ctx context.Context, id int64) (KeyDetails, error) {
	return call[KeyDetails](ctx, k.management, http.MethodGet, k.of(id), nil)
}

// Change changes a key, also its limits.
func (k *Keys) Change(ctx context.Context, id int64, change KeyChange) (KeyDetails, error) {
	patch, err := patchOf(change, change.Remove)
	if err != nil {
		return KeyDetails{}, err
	}
	return call[KeyDetails](ctx, k.management, http.MethodPatch, k.of(id), patch)
}

// Rotate replaces the secret of a key.
func (k *Keys) Rotate(ctx context.Context, id int64, rotation Rotation) (RotatedKey, error) {
	return call[RotatedKey](ctx, k.management, http.MethodPost, k.of(id)+"/rotate", rotation)
}

// Delete deletes a key: every verification that starts after the call rejects it. Cannot be undone.
func (k *Keys) Delete(ctx context.Context, id int64) error {
	_, err := call[any](ctx, k.management, http.MethodDelete, k.of(id), nil)
	return err
}

func (k *Keys) of(id int64) string {
	return fmt.Sprintf("%s/%d", k.path, id)
}
