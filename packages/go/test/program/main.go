// The program of this library for packages/conformance: starts guards, and verifies credentials.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"sync"

	"keyreeve"
)

type options struct {
	Scopes       []string `json:"scopes"`
	Address      string   `json:"address"`
	Environments []string `json:"environments"`
	Cost         *int     `json:"cost"`
}

type line struct {
	ID         int     `json:"id"`
	Guard      *guard  `json:"guard"`
	Credential string  `json:"credential"`
	Options    options `json:"options"`
}

type guard struct {
	Framework  string  `json:"framework"`
	URL        string  `json:"url"`
	ServiceKey string  `json:"serviceKey"`
	Options    options `json:"options"`
}

type reply struct {
	ID          int              `json:"id"`
	URL         string           `json:"url,omitempty"`
	Result      *keyreeve.Result `json:"result,omitempty"`
	Unavailable string           `json:"unavailable,omitempty"`
}

var output sync.Mutex

func write(written reply) {
	output.Lock()
	defer output.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(written); err != nil {
		log.Fatal(err)
	}
}

// startGuard returns the URL of an application behind a guard.
func startGuard(started guard) string {
	client, err := keyreeve.New(keyreeve.Config{URL: started.URL, ServiceKey: started.ServiceKey})
	if err != nil {
		log.Fatal(err)
	}
	protect := client.Guard(keyreeve.GuardOptions{
		Scopes: started.Options.Scopes, Environments: started.Options.Environments, Cost: started.Options.Cost,
	})
	application := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		result, _ := keyreeve.ResultFrom(r.Context())
		if err := json.NewEncoder(w).Encode(map[string]any{"result": result}); err != nil {
			log.Print(err)
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(http.Serve(listener, protect(application))) }()
	return "http://" + listener.Addr().String()
}

func verify(client *keyreeve.Client, asked line) {
	result, err := client.Verify(context.Background(), asked.Credential, keyreeve.Options(asked.Options))
	switch {
	case errors.Is(err, keyreeve.ErrUnavailable):
		write(reply{ID: asked.ID, Unavailable: err.Error()})
	case err != nil:
		log.Fatal(err)
	default:
		write(reply{ID: asked.ID, Result: &result})
	}
}

func main() {
	var client *keyreeve.Client
	if url := os.Getenv("KEYREEVE_URL"); url != "" {
		var err error
		client, err = keyreeve.New(keyreeve.Config{URL: url, ServiceKey: os.Getenv("KEYREEVE_SERVICE_KEY")})
		if err != nil {
			log.Fatal(err)
		}
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var read line
		if err := json.Unmarshal(lines.Bytes(), &read); err != nil {
			log.Fatal(err)
		}
		if read.Guard != nil {
			write(reply{ID: read.ID, URL: startGuard(*read.Guard)})
		} else {
			go verify(client, read)
		}
	}
}
