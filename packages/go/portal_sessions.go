package keyreeve

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

const portalSessionsPath = "auth/portal-sessions"

// Person manages keys on the key page. The audit log names the person.
type Person struct {
	// Your own id of the person: no email address.
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// NewPortalSession has the members of a new portal session: Origin, ReturnURL or both.
type NewPortalSession struct {
	// Of the service account whose keys the person manages.
	ExternalID string `json:"externalId"`
	// "read", "create", "rotate", "limit" and "delete".
	Capabilities []string `json:"capabilities"`
	// That keys can get. Nil: all entitlements of the service account.
	Scopes *[]string `json:"scopes,omitempty"`
	Person *Person   `json:"person,omitempty"`
	// Of the page with the frame. Without it, the key page is a page of its own.
	Origin string `json:"origin,omitempty"`
	// Where the key page leads back to: a URL of Origin.
	ReturnURL string `json:"returnUrl,omitempty"`
}

// CreatedPortalSession has the URL of the key page.
type CreatedPortalSession struct {
	ID string `json:"id"`
	// Its fragment is a token that works once, for a minute. No other response has it.
	URL            string    `json:"url"`
	ExpiresAt      time.Time `json:"expiresAt"`
	TokenExpiresAt time.Time `json:"tokenExpiresAt"`
}

// Format implements [fmt.Formatter] for all verbs, because the default one prints the token.
func (s CreatedPortalSession) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "keyreeve.CreatedPortalSession(%s)", s.ID)
}

// CreatePortalSession creates a portal session for a person who manages the keys of a service account on the key page. Redirect the
// frame or the browser to its URL within a minute, and only for a signed-in person.
func (m *Management) CreatePortalSession(ctx context.Context, session NewPortalSession) (CreatedPortalSession, error) {
	return call[CreatedPortalSession](ctx, m, http.MethodPost, portalSessionsPath, session)
}

// EndPortalSession ends a portal session: every request of its key page that starts after the call is rejected.
func (m *Management) EndPortalSession(ctx context.Context, id string) error {
	_, err := call[any](ctx, m, http.MethodDelete, portalSessionsPath+"/"+url.PathEscape(id), nil)
	return err
}
