package keyreeve

import (
	"context"
	"log/slog"
	"testing"
)

// blockingHandler handles a message until the test releases it.
type blockingHandler struct {
	slog.Handler
	entered, released chan struct{}
}

func (blockingHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h blockingHandler) Handle(context.Context, slog.Record) error {
	h.entered <- struct{}{}
	<-h.released
	return nil
}

func TestALogThatBlocksDelaysNoOtherVerification(t *testing.T) {
	service := newTestService(t, func(request *testRequest) {
		request.send("HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n")
	})
	handler := blockingHandler{entered: make(chan struct{}), released: make(chan struct{})}
	client := newClientOf(t, Config{URL: service.url, ServiceKey: testKey, Logger: slog.New(handler)})
	first := make(chan error, 1)
	go func() {
		_, err := client.Verify(context.Background(), "first", Options{})
		first <- err
	}()
	<-handler.entered
	if !client.outages.mutex.TryLock() {
		t.Fatal("the log is called with the lock")
	}
	client.outages.mutex.Unlock()
	_, err := client.Verify(context.Background(), "second", Options{})
	assertUnavailable(t, err, "503")
	equal(t, len(first), 0)
	close(handler.released)
	assertUnavailable(t, <-first, "503")
}
