package keyreeve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"keyreeve"
)

// startService starts a service that answers each request with this body.
func startService(status int, body string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
}

const acceptedBody = `{"results":[{"valid":true,"type":"api_key","accountId":"acc_1","nickname":"orders worker","scopes":["orders:read"]}]}`

func ExampleClient_Verify() {
	service := startService(http.StatusOK, acceptedBody)
	defer service.Close()

	client, err := keyreeve.New(keyreeve.Config{URL: service.URL, ServiceKey: "krv_service"})
	if err != nil {
		log.Fatal(err)
	}
	result, err := client.Verify(context.Background(), "krv_key", keyreeve.Options{Scopes: []string{"orders:read"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Valid, result.AccountID, result.Nickname)
	// Output: true acc_1 orders worker
}

func ExampleClient_Guard() {
	service := startService(http.StatusOK, acceptedBody)
	defer service.Close()
	client, err := keyreeve.New(keyreeve.Config{URL: service.URL, ServiceKey: "krv_service"})
	if err != nil {
		log.Fatal(err)
	}

	canRead := client.Guard(keyreeve.GuardOptions{Scopes: []string{"orders:read"}})
	orders := canRead(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, _ := keyreeve.ResultFrom(r.Context())
		fmt.Fprint(w, "orders of ", caller.AccountID)
	}))

	for _, authorization := range []string{"Bearer krv_key", ""} {
		request := httptest.NewRequest(http.MethodGet, "/orders", nil)
		request.Header.Set("Authorization", authorization)
		response := httptest.NewRecorder()
		orders.ServeHTTP(response, request)
		fmt.Println(response.Code, strings.HasPrefix(response.Body.String(), "orders of acc_1"))
	}
	// Output:
	// 200 true
	// 401 false
}

func ExampleError() {
	service := startService(http.StatusUnauthorized, `{"code":"invalid_credential","detail":"The service key was deleted."}`)
	defer service.Close()
	client, err := keyreeve.New(keyreeve.Config{URL: service.URL, ServiceKey: "krv_service"})
	if err != nil {
		log.Fatal(err)
	}

	_, err = client.Verify(context.Background(), "krv_key", keyreeve.Options{})
	var failure *keyreeve.Error
	if errors.Is(err, keyreeve.ErrUnavailable) && errors.As(err, &failure) {
		fmt.Println(failure.Status, failure.Code)
	}
	// Output: 401 invalid_credential
}

func ExampleKeys_Create() {
	service := startService(http.StatusCreated, `{"id":3920480220219155,"nickname":"laptop","key":"krv_secret"}`)
	defer service.Close()

	management, err := keyreeve.NewManagement(keyreeve.ManagementConfig{URL: service.URL, ManagementKey: "krv_management"})
	if err != nil {
		log.Fatal(err)
	}
	created, err := management.Keys("acc_3K9vQm1ZyT4cW8nB6pXr2L").Create(context.Background(), keyreeve.NewKey{Nickname: "laptop"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(created.Nickname, created.Key)
	// Output: laptop krv_secret
}

func ExampleKeyFromFile() {
	// The key is read for each request, so it can change in a running process.
	config := keyreeve.Config{URL: "https://auth.example.com", ServiceKeyFunc: keyreeve.KeyFromFile("/run/secrets/keyreeve")}
	client, err := keyreeve.New(config)
	fmt.Println(client, err)
	// Output: keyreeve.Client(https://auth.example.com) <nil>
}
