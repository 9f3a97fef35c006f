package keyreeve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestASignInShowsTheCodeAsTheProgramLikesAndNoSecret(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/auth/oauth/device" {
			fmt.Fprint(w, `{"device_code":"krvd_1","user_code":"WDJB-MJHT","verification_uri":"https://auth.example.com/console/device",`+
				`"verification_uri_complete":"https://auth.example.com/console/device#WDJB-MJHT","expires_in":600,"interval":5}`)
			return
		}
		fmt.Fprint(w, `{"access_token":"krv_1","token_type":"Bearer","expires_in":60,"scope":"","key_id":7,"nickname":"Acme"}`)
	}))
	defer server.Close()
	var shown DeviceCode
	var output bytes.Buffer
	clock := newManualClock()
	config := DeviceLoginConfig{URL: server.URL, ClientID: "acme-cli", Show: func(code DeviceCode) error {
		shown = code
		return nil
	}}
	ended := make(chan error, 1)
	var key DeviceKey
	go func() {
		var err error
		key, err = deviceLogin(context.Background(), config, clock, &output)
		ended <- err
	}()
	until(t, "the sign-in pauses", func() bool { return len(clock.ends(ofCaller)) == 1 })
	clock.move(5 * time.Second)
	equal(t, <-ended, nil)
	page := "https://auth.example.com/console/device"
	equal(t, shown, DeviceCode{"WDJB-MJHT", page, page + "#WDJB-MJHT", 10 * time.Minute})
	equal(t, output.String(), "")
	equal(t, key.Key, "krv_1")
	equal(t, len(key.Scopes), 0)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, key); strings.Contains(text, "krv_") {
			t.Fatal(text)
		}
	}
}

func TestASignInEndsWithTheErrorOfShow(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"device_code":"krvd_1","user_code":"W","verification_uri":"https://auth.example.com","expires_in":600}`)
	}))
	defer server.Close()
	closed := errors.New("the terminal is closed")
	config := DeviceLoginConfig{URL: server.URL, ClientID: "acme-cli", Show: func(DeviceCode) error { return closed }}
	if _, err := DeviceLogin(context.Background(), config); !errors.Is(err, closed) {
		t.Fatal(err)
	}
}

func TestOptionsOfASignInThatCannotLeadToAKeyAreErrors(t *testing.T) {
	for _, config := range []DeviceLoginConfig{
		{URL: "http://auth.example.com", ClientID: "acme-cli"},
		{URL: "https://auth.example.com"},
	} {
		if _, err := DeviceLogin(context.Background(), config); !errors.Is(err, ErrInvalid) {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	config := DeviceLoginConfig{URL: "https://auth.example.com", ClientID: "acme-cli"}
	if _, err := DeviceLogin(ctx, config); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}
