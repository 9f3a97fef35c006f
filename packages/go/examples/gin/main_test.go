package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"keyreeve/examples/service"
)

// get repeats a request that Keyreeve has not answered within the deadline of the library.
func get(t *testing.T, router *gin.Engine, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	for {
		request := httptest.NewRequest(http.MethodGet, "/orders", nil)
		request.Header = header
		response := httptest.NewRecorder()
		router.ServeHTTP(response, request)
		if response.Code != http.StatusServiceUnavailable {
			return response
		}
	}
}

func bearer(key service.Key) http.Header {
	return http.Header{"Authorization": {"Bearer " + key.Secret}}
}

func assertProblem(t *testing.T, response *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	var problem struct{ Code string }
	err := json.Unmarshal(response.Body.Bytes(), &problem)
	if err != nil || response.Code != status || problem.Code != code {
		t.Fatalf("%d %s, expected %d %s", response.Code, response.Body, status, code)
	}
}

func TestTheRouteAcceptsAKeyWithTheScopeUntilItsDeletion(t *testing.T) {
	gin.SetMode(gin.TestMode)
	router, err := newRouter(service.Client(t))
	if err != nil {
		t.Fatal(err)
	}
	assertProblem(t, get(t, router, nil), 401, "missing_credential")
	without := service.CreateKey(t, `"scopes":[]`)
	assertProblem(t, get(t, router, bearer(without)), 403, "insufficient_scope")

	key := service.CreateKey(t, `"scopes":["orders:read"],"limits":{"quota":{"limit":10,"per":"month"}}`)
	accepted := get(t, router, bearer(key))
	if accepted.Code != 200 || !strings.HasPrefix(accepted.Body.String(), `{"nickname":"TestTheRoute`) {
		t.Fatal(accepted.Code, accepted.Body)
	}
	if limit := accepted.Header().Get("RateLimit"); !strings.HasPrefix(limit, `"key-quota";r=`) {
		t.Fatalf("RateLimit is %q", limit)
	}
	service.DeleteKey(t, key)
	assertProblem(t, get(t, router, bearer(key)), 401, "invalid_credential")
}

func TestTheClientIPIsThatOfTheConnection(t *testing.T) {
	router, err := newRouter(service.Client(t))
	if err != nil {
		t.Fatal(err)
	}
	key := service.CreateKey(t, `"scopes":["orders:read"],"addresses":["203.0.113.0/24"]`)
	header := bearer(key)
	header.Set("X-Forwarded-For", "203.0.113.7")
	// The IP address of a request of httptest is 192.0.2.1.
	assertProblem(t, get(t, router, header), 403, "address_not_allowed")
}
