// Package service gives the tests of the examples a running Keyreeve, which the environment variables name.
package service

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"keyreeve"
)

// Key is an API key of the account that the tests use.
type Key struct {
	ID     int64  `json:"id"`
	Secret string `json:"key"`
}

// Client returns a client of the service.
func Client(t *testing.T) *keyreeve.Client {
	t.Helper()
	client, err := keyreeve.New(keyreeve.Config{URL: variable(t, "KEYREEVE_URL"), ServiceKey: variable(t, "KEYREEVE_SERVICE_KEY")})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// CreateKey creates a key with the members of `POST /auth/api-keys`, in JSON. The nickname is that of the test, and unique.
func CreateKey(t *testing.T, members string) Key {
	t.Helper()
	created++
	var key Key
	body := fmt.Sprintf(`{"nickname":"%s %d",%s}`, t.Name(), created, members)
	if err := json.Unmarshal(request(t, http.MethodPost, "/auth/api-keys", body), &key); err != nil {
		t.Fatal(err)
	}
	return key
}

// DeleteKey returns when the key has been deleted.
func DeleteKey(t *testing.T, key Key) {
	t.Helper()
	request(t, http.MethodDelete, fmt.Sprintf("/auth/api-keys/%d", key.ID), "")
}

var created int

func variable(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set. Run these tests with packages/go/test/examples.extended.test.ts.", name)
	}
	return value
}

func request(t *testing.T, method, path, body string) []byte {
	t.Helper()
	asked, err := http.NewRequest(method, variable(t, "KEYREEVE_URL")+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	asked.Header.Set("Authorization", "Bearer "+variable(t, "ACCESS_TOKEN"))
	if body != "" {
		asked.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(asked)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer json.RawMessage
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %s %v", method, path, response.StatusCode, answer, err)
	}
	return answer
}
