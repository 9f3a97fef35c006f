package keyreeve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// IdentityTokenFunc returns an identity token for the audience, the claim aud that the key expects. The token was signed for this call,
// or is still valid for some time. The context ends after the time limit of the exchange, and when no caller waits for it.
type IdentityTokenFunc func(ctx context.Context, audience string) (string, error)

// GitHubToken returns the token of a job of GitHub Actions that has the permission "id-token: write".
func GitHubToken(ctx context.Context, audience string) (string, error) {
	target, err := url.Parse(os.Getenv("ACTIONS_ID_TOKEN_REQUEST_URL"))
	token := os.Getenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN")
	if err != nil || target.Host == "" || !serviceKeyForm.MatchString(token) {
		return "", errors.New("GitHubToken: the job needs the permission `id-token: write`")
	}
	query := target.Query()
	query.Set("audience", audience)
	target.RawQuery = query.Encode()
	text, err := readToken(ctx, http.DefaultTransport, target.String(), http.Header{"Authorization": {"Bearer " + token}})
	if err != nil {
		return "", fmt.Errorf("GitHubToken: %w", err)
	}
	var response struct{ Value string }
	if json.Unmarshal([]byte(text), &response) != nil {
		return "", errors.New("GitHubToken: the response is not JSON")
	}
	return response.Value, nil
}

// GoogleToken returns the token of the service account of a machine, a pod or a function on Google Cloud.
func GoogleToken(ctx context.Context, audience string) (string, error) {
	host := os.Getenv("GCE_METADATA_HOST")
	if host == "" {
		host = "metadata.google.internal"
	}
	query := url.Values{"audience": {audience}, "format": {"full"}}.Encode()
	target := "http://" + host + "/computeMetadata/v1/instance/service-accounts/default/identity?" + query
	// The default transport can send plain HTTP, and so the token, to a proxy of the environment.
	text, err := readToken(ctx, &http.Transport{DisableKeepAlives: true}, target, http.Header{"Metadata-Flavor": {"Google"}})
	if err != nil {
		return "", fmt.Errorf("GoogleToken: %w", err)
	}
	return text, nil
}

// TokenFromFile returns a function that reads a token that the platform renews in a file, such as a projected token of Kubernetes. The
// platform determines the audience.
func TokenFromFile(path string) IdentityTokenFunc {
	read := KeyFromFile(path)
	return func(ctx context.Context, _ string) (string, error) { return read(ctx) }
}

// readToken returns an error without the header and the content.
func readToken(ctx context.Context, transport http.RoundTripper, target string, header http.Header) (string, error) {
	received, err := roundTrip(ctx, transport, http.MethodGet, target, header, "")
	if err != nil {
		return "", err
	}
	if received.status != http.StatusOK {
		return "", fmt.Errorf("status %d", received.status)
	}
	return strings.TrimSpace(string(received.text)), nil
}
