package keyreeve

import (
	"context"
	"errors"
	"os"
	"time"
)

// programLogin starts a sign-in from a command line, which packages/conformance/README.md describes.
type programLogin struct {
	URL      string   `json:"url"`
	ClientID string   `json:"clientId"`
	Scopes   []string `json:"scopes"`
}

type programLoginName struct {
	Login string `json:"login"`
}

type startedLogin struct {
	cancel context.CancelFunc
	// Closed when key and err are set.
	done chan struct{}
	key  DeviceKey
	err  error
}

func (p programLogin) start() (*startedLogin, *manualClock) {
	qrCode := func(link string) (string, error) { return "QR " + link + "\n", nil }
	config := DeviceLoginConfig{URL: p.URL, ClientID: p.ClientID, Scopes: p.Scopes, QRCode: qrCode}
	ctx, cancel := context.WithCancel(context.Background())
	started := &startedLogin{cancel: cancel, done: make(chan struct{})}
	clock := newManualClock()
	go func() {
		defer close(started.done)
		started.key, started.err = deviceLogin(ctx, config, clock, os.Stderr)
	}()
	return started, clock
}

// outcome waits for the key or the failure, as the program writes them.
func (s *startedLogin) outcome() (key, failure map[string]any) {
	<-s.done
	switch {
	case errors.Is(s.err, context.Canceled):
		return nil, map[string]any{"message": "cancelled"}
	case s.err != nil:
		return nil, describe(s.err)
	default:
		return map[string]any{
			"key": s.key.Key, "keyId": s.key.KeyID, "nickname": s.key.Nickname, "scopes": s.key.Scopes,
			"expiresAt": s.key.ExpiresAt.UTC().Format(time.RFC3339),
		}, nil
	}
}

type programLogout struct {
	URL      string `json:"url"`
	ClientID string `json:"clientId"`
	Key      string `json:"key"`
}

// outcome returns the failure, as the program writes it.
func (p programLogout) outcome() map[string]any {
	if err := DeviceLogout(context.Background(), DeviceLoginConfig{URL: p.URL, ClientID: p.ClientID}, p.Key); err != nil {
		return describe(err)
	}
	return nil
}
