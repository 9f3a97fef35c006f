package keyreeve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"
)

// The program of this library for packages/conformance: starts guards, and verifies credentials. It is in the binary of the tests,
// because it moves the clocks of its guards.

func TestMain(m *testing.M) {
	if os.Getenv("KEYREEVE_TEST_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	runProgram()
}

type programOptions struct {
	Scopes       []string `json:"scopes"`
	Address      string   `json:"address"`
	Environments []string `json:"environments"`
	Cost         *int     `json:"cost"`
}

type programGuardOptions struct {
	programOptions
	RateLimitFields bool `json:"rateLimitFields"`
	Basic           bool `json:"basic"`
}

type programLine struct {
	ID         int                `json:"id"`
	Guard      *programGuard      `json:"guard"`
	MoveClock  *programMove       `json:"moveClock"`
	Management *programManagement `json:"management"`
	Exchange   *programExchange   `json:"exchange"`
	Secret     *programSource     `json:"secret"`
	Drop       *programSource     `json:"drop"`
	Login      *programLogin      `json:"deviceLogin"`
	Logout     *programLogout     `json:"deviceLogout"`
	Waits      *programLoginName  `json:"waits"`
	Key        *programLoginName  `json:"key"`
	Cancel     *programLoginName  `json:"cancel"`
	Credential string             `json:"credential"`
	Options    programOptions     `json:"options"`
}

type programGuard struct {
	Framework  string              `json:"framework"`
	URL        string              `json:"url"`
	ServiceKey string              `json:"serviceKey"`
	Options    programGuardOptions `json:"options"`
}

type programMove struct {
	URL string `json:"url"`
	Ms  int    `json:"ms"`
}

type programReply struct {
	ID          int            `json:"id"`
	URL         string         `json:"url,omitempty"`
	Result      *Result        `json:"result,omitempty"`
	Unavailable string         `json:"unavailable,omitempty"`
	Transcript  map[string]any `json:"transcript,omitempty"`
	Source      string         `json:"source,omitempty"`
	Secret      string         `json:"secret,omitempty"`
	Login       string         `json:"login,omitempty"`
	Waits       []int64        `json:"waits,omitempty"`
	Key         map[string]any `json:"key,omitempty"`
	Failure     map[string]any `json:"failure,omitempty"`
}

var programOutput sync.Mutex

func writeReply(written programReply) {
	programOutput.Lock()
	defer programOutput.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(written); err != nil {
		log.Fatal(err)
	}
}

var guardedApplications = map[string]func(*Client, programGuardOptions) http.Handler{
	"net/http": func(client *Client, options programGuardOptions) http.Handler {
		protect := client.Guard(GuardOptions{
			Scopes: options.Scopes, Environments: options.Environments, Cost: options.Cost,
			RateLimitFields: options.RateLimitFields, Basic: options.Basic,
		})
		return protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			result, _ := ResultFrom(r.Context())
			writeResult(w, result)
		}))
	},
	"core check": func(client *Client, options programGuardOptions) http.Handler {
		check, err := client.NewCheck(
			CheckOptions{options.Scopes, options.Environments, options.Cost, options.RateLimitFields, options.Basic},
		)
		if err != nil {
			log.Fatal(err)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			accepted, refused := check.Request(r.Context(), r.Header, peerOf(r))
			if refused != nil {
				refused.Write(w)
				return
			}
			maps.Copy(w.Header(), accepted.Header)
			writeResult(w, accepted.Result)
		})
	},
}

func writeResult(w http.ResponseWriter, result Result) {
	if err := json.NewEncoder(w).Encode(map[string]any{"result": result}); err != nil {
		log.Print(err)
	}
}

// startGuard returns the URL of an application behind a guard, and the clock of the guard.
func startGuard(started programGuard) (string, *manualClock) {
	client, err := New(Config{URL: started.URL, ServiceKey: started.ServiceKey})
	if err != nil {
		log.Fatal(err)
	}
	clock := newManualClock()
	client.sender.clock = clock
	application := guardedApplications[started.Framework](client, started.Options)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(http.Serve(listener, application)) }()
	return "http://" + listener.Addr().String(), clock
}

func verifyLine(client *Client, asked programLine) {
	result, err := client.Verify(context.Background(), asked.Credential, Options(asked.Options))
	switch {
	case errors.Is(err, ErrUnavailable):
		writeReply(programReply{ID: asked.ID, Unavailable: err.Error()})
	case err != nil:
		log.Fatal(err)
	default:
		writeReply(programReply{ID: asked.ID, Result: &result})
	}
}

func writeSecret(id int, source *ExchangedSecrets) {
	secret, err := source.Secret(context.Background())
	if err != nil {
		writeReply(programReply{ID: id, Failure: describe(err)})
	} else {
		writeReply(programReply{ID: id, Secret: secret})
	}
}

func writeOutcome(id int, login *startedLogin) {
	key, failure := login.outcome()
	writeReply(programReply{ID: id, Key: key, Failure: failure})
}

func writeLogout(id int, logout programLogout) {
	writeReply(programReply{ID: id, Failure: logout.outcome()})
}

func runProgram() {
	var client *Client
	if url := os.Getenv("KEYREEVE_URL"); url != "" {
		var err error
		client, err = New(Config{URL: url, ServiceKey: os.Getenv("KEYREEVE_SERVICE_KEY")})
		if err != nil {
			log.Fatal(err)
		}
	}
	clocks := map[string]*manualClock{}
	sources := map[string]*ExchangedSecrets{}
	logins := map[string]*startedLogin{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var read programLine
		if err := json.Unmarshal(lines.Bytes(), &read); err != nil {
			log.Fatal(err)
		}
		if read.Guard != nil {
			url, clock := startGuard(*read.Guard)
			clocks[url] = clock
			writeReply(programReply{ID: read.ID, URL: url})
		} else if read.MoveClock != nil {
			clocks[read.MoveClock.URL].move(time.Duration(read.MoveClock.Ms) * time.Millisecond)
			writeReply(programReply{ID: read.ID})
		} else if read.Management != nil {
			writeReply(programReply{ID: read.ID, Transcript: read.Management.run()})
		} else if read.Exchange != nil {
			source, clock := read.Exchange.start()
			name := fmt.Sprintf("source %d", len(sources))
			sources[name], clocks[name] = source, clock
			writeReply(programReply{ID: read.ID, Source: name})
		} else if read.Secret != nil {
			go writeSecret(read.ID, sources[read.Secret.Source])
		} else if read.Drop != nil {
			sources[read.Drop.Source].Drop(read.Drop.Secret)
			writeReply(programReply{ID: read.ID})
		} else if read.Login != nil {
			login, clock := read.Login.start()
			name := fmt.Sprintf("login %d", len(logins))
			logins[name], clocks[name] = login, clock
			writeReply(programReply{ID: read.ID, Login: name})
		} else if read.Logout != nil {
			go writeLogout(read.ID, *read.Logout)
		} else if read.Waits != nil {
			writeReply(programReply{ID: read.ID, Waits: clocks[read.Waits.Login].rests()})
		} else if read.Key != nil {
			go writeOutcome(read.ID, logins[read.Key.Login])
		} else if read.Cancel != nil {
			logins[read.Cancel.Login].cancel()
			writeReply(programReply{ID: read.ID})
		} else {
			go verifyLine(client, read)
		}
	}
}
