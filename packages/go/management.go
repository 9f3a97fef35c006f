package keyreeve

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Without dots, which would lead to another path.
var managementPathForm = regexp.MustCompile(`^auth/(service-accounts|portal-sessions)(/[\w-]+)*$`)

const (
	managementTimeout   = 30 * time.Second
	serviceAccountsPath = "auth/service-accounts"
)

// ManagementConfig is what a client for the management needs of a service.
type ManagementConfig struct {
	// Of Keyreeve, such as https://auth.example.com.
	URL string
	// An API key with the scope keyreeve:keys.
	ManagementKey string
	// Instead of ManagementKey: returns the current one, such as [KeyFromFile].
	ManagementKeyFunc KeyFunc
	// Allows http: to other hosts than loopback.
	AllowPlainHTTP bool
	// For a certificate authority of your own. Default: the certificate authorities of the system.
	TLSConfig *tls.Config
	// Instead of TLSConfig: sends the requests, for example through a proxy.
	Transport http.RoundTripper
}

// Management manages service accounts and their keys, for a backend with a management key. Any number of goroutines can use it.
//
// Each method sends its request once. The error is an [*Error], also without a response within 30 s or before the context ends.
type Management struct {
	url           string
	allowsPlain   bool
	authorization KeyFunc
	transport     http.RoundTripper
}

// NewManagement returns an error, which is [ErrInvalid], if the URL or the key is malformed, or the URL is plain HTTP to another host
// than loopback.
func NewManagement(config ManagementConfig) (*Management, error) {
	authorization, err := authorizationOf("ManagementKey", config.ManagementKey, config.ManagementKeyFunc)
	if err != nil {
		return nil, err
	}
	if _, err := destinationOf(config.URL, config.AllowPlainHTTP, ""); err != nil {
		return nil, err
	}
	transport, err := transportOf(config.Transport, config.TLSConfig)
	if err != nil {
		return nil, err
	}
	return &Management{config.URL, config.AllowPlainHTTP, authorization, transport}, nil
}

// Format implements [fmt.Formatter] for all verbs, because the default one prints the key.
func (m *Management) Format(state fmt.State, _ rune) {
	fmt.Fprintf(state, "keyreeve.Management(%s)", m.url)
}

// ServiceAccount owns keys for a program, a team, or a tenant.
type ServiceAccount struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Your own id, for example of a tenant. Empty without one.
	ExternalID string `json:"externalId"`
	// Empty after the deletion of the account that created it.
	CreatorID string    `json:"creatorId"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// NewServiceAccount has the members of a new service account.
type NewServiceAccount struct {
	// Unique among the service accounts of its creator.
	Name string `json:"name"`
	// Your own id, for example of a tenant.
	ExternalID string `json:"externalId,omitempty"`
}

// ServiceAccountChange has the changed members. Nil keeps a value.
type ServiceAccountChange struct {
	Name       *string `json:"name,omitempty"`
	ExternalID *string `json:"externalId,omitempty"`
	// Removes the external id.
	RemoveExternalID bool `json:"-"`
}

// ShownLimits are the limits of a service account, and what is used of its quota. Nil without any.
type ShownLimits struct {
	Limits   *KeyLimits `json:"limits"`
	QuotaUse *QuotaUse  `json:"quotaUse"`
}

// PageQuery selects a page of a list.
type PageQuery struct {
	// Entries of the page, 1 to 100. 0: 100.
	Limit int
	// NextCursor of the page before, with the same other parameters.
	Cursor string
}

// Page is a part of a list.
type Page[T any] struct {
	// Also a page that is not the last can have few or none.
	Entries []T
	// Empty for the last page.
	NextCursor string
}

// CreateServiceAccount creates a service account. If the response is lost, repeat the request: the code "external_id_taken" means that
// the first one succeeded.
func (m *Management) CreateServiceAccount(ctx context.Context, account NewServiceAccount) (ServiceAccount, error) {
	return call[ServiceAccount](ctx, m, http.MethodPost, serviceAccountsPath, account)
}

// ServiceAccountPage returns a page of the service accounts that the account of the caller manages.
func (m *Management) ServiceAccountPage(ctx context.Context, query PageQuery) (Page[ServiceAccount], error) {
	return m.serviceAccounts(ctx, query.values())
}

// ListServiceAccounts returns all service accounts that the account of the caller manages, page by page, for a range statement.
func (m *Management) ListServiceAccounts(ctx context.Context) func(yield func(ServiceAccount, error) bool) {
	return entriesOf(func(cursor string) (Page[ServiceAccount], error) {
		return m.ServiceAccountPage(ctx, PageQuery{Cursor: cursor})
	})
}

// FindServiceAccount returns the service account that the account of the caller has created with this external id. The second result
// is false if there is none.
func (m *Management) FindServiceAccount(ctx context.Context, externalID string) (ServiceAccount, bool, error) {
	page, err := m.serviceAccounts(ctx, url.Values{"externalId": {externalID}})
	if err != nil || len(page.Entries) == 0 {
		return ServiceAccount{}, false, err
	}
	return page.Entries[0], true, nil
}

// GetServiceAccount returns a service account.
func (m *Management) GetServiceAccount(ctx context.Context, id string) (ServiceAccount, error) {
	return call[ServiceAccount](ctx, m, http.MethodGet, serviceAccountPath(id), nil)
}

// ChangeServiceAccount changes a service account.
func (m *Management) ChangeServiceAccount(ctx context.Context, id string, change ServiceAccountChange) (ServiceAccount, error) {
	removed := []string{}
	if change.RemoveExternalID {
		removed = append(removed, "externalId")
	}
	patch, err := patchOf(change, removed)
	if err != nil {
		return ServiceAccount{}, err
	}
	return call[ServiceAccount](ctx, m, http.MethodPatch, serviceAccountPath(id), patch)
}

// DeleteServiceAccount also deletes its keys: every verification that starts after the call rejects them. Cannot be undone.
func (m *Management) DeleteServiceAccount(ctx context.Context, id string) error {
	_, err := call[any](ctx, m, http.MethodDelete, serviceAccountPath(id), nil)
	return err
}

// SetLimits replaces the limits that all keys of the service account share.
func (m *Management) SetLimits(ctx context.Context, id string, limits KeyLimits) (ShownLimits, error) {
	return call[ShownLimits](ctx, m, http.MethodPut, serviceAccountPath(id)+"/limits", limits)
}

// Keys returns the keys of a service account.
func (m *Management) Keys(serviceAccountID string) *Keys {
	return &Keys{m, serviceAccountPath(serviceAccountID) + "/api-keys"}
}

func (m *Management) serviceAccounts(ctx context.Context, query url.Values) (Page[ServiceAccount], error) {
	type list struct {
		ServiceAccounts []ServiceAccount `json:"serviceAccounts"`
		NextCursor      string           `json:"nextCursor"`
	}
	read, err := call[list](ctx, m, http.MethodGet, serviceAccountsPath+"?"+query.Encode(), nil)
	return Page[ServiceAccount]{read.ServiceAccounts, read.NextCursor}, err
}

func serviceAccountPath(id string) string {
	return serviceAccountsPath + "/" + url.PathEscape(id)
}

func (q PageQuery) values() url.Values {
	values := url.Values{}
	if q.Limit != 0 {
		values.Set("limit", strconv.Itoa(q.Limit))
	}
	if q.Cursor != "" {
		values.Set("cursor", q.Cursor)
	}
	return values
}

func entriesOf[T any](read func(cursor string) (Page[T], error)) func(yield func(T, error) bool) {
	return func(yield func(T, error) bool) {
		for page := (Page[T]{}); ; {
			var err error
			if page, err = read(page.NextCursor); err != nil {
				yield(*new(T), err)
				return
			}
			for _, each := range page.Entries {
				if !yield(each, nil) {
					return
				}
			}
			if page.NextCursor == "" {
				return
			}
		}
	}
}

// patchOf is a merge patch (RFC 7396), in which null removes a value.
func patchOf(change any, removed []string) (map[string]any, error) {
	text, err := json.Marshal(change)
	if err != nil {
		return nil, invalid(err.Error())
	}
	patch := map[string]any{}
	if err := json.Unmarshal(text, &patch); err != nil {
		return nil, err
	}
	for _, name := range removed {
		patch[name] = nil
	}
	return patch, nil
}

// call sends a request once. The path is below that of the URL of the service, and can have a query.
func call[T any](ctx context.Context, m *Management, method, path string, body any) (T, error) {
	var content T
	text, err := json.Marshal(body)
	if err != nil {
		return content, invalid(err.Error())
	}
	if body == nil {
		text = nil
	}
	ctx, cancel := context.WithTimeout(ctx, managementTimeout)
	defer cancel()
	authorization, err := m.authorization(ctx)
	if err != nil {
		return content, err
	}
	path, query, _ := strings.Cut(path, "?")
	if !managementPathForm.MatchString(path) {
		return content, invalid("id: expected the id of a service account or portal session")
	}
	target, err := destinationOf(m.url, m.allowsPlain, path)
	if err != nil {
		return content, err
	}
	target.url.RawQuery = query
	received, err := roundTrip(ctx, m.transport, method, target.url.String(), headerOf(authorization), string(text))
	switch {
	case err != nil:
		return content, &Error{Code: unavailableCode, cause: err}
	case received.status < http.StatusOK || received.status >= http.StatusMultipleChoices:
		return content, errorOf(received)
	}
	if err := json.Unmarshal(received.text, &content); err != nil && received.status != http.StatusNoContent {
		return content, &Error{Status: received.status, Code: unavailableCode, Detail: "the response has another form than expected"}
	}
	return content, nil
}
