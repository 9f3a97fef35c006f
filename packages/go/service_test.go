package keyreeve

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

const testKey = "krv_service"

type askedQuestion struct {
	Credential   string   `json:"credential"`
	Scopes       []string `json:"scopes"`
	Environments []string `json:"environments"`
	Cost         *int     `json:"cost"`
}

// testRequest is a request of a client, which the test answers.
type testRequest struct {
	connection net.Conn
	// Of the connection, in the order of acceptance.
	number int
	size   int
	// The field of this name.
	authorization string
	questions     []askedQuestion
}

func (r *testRequest) credentials() []string {
	texts := make([]string, len(r.questions))
	for index, each := range r.questions {
		texts[index] = each.Credential
	}
	return texts
}

func acceptedText(account string) string {
	name, _ := json.Marshal(account)
	return fmt.Sprintf(`{"valid":true,"type":"api_key","accountId":%s,"scopes":["a"],"metadata":{"of":{"key":1}}}`, name)
}

// accept accepts each credential, and the account has its name.
func (r *testRequest) accept() {
	results := make([]string, len(r.questions))
	for index, name := range r.credentials() {
		results[index] = acceptedText(name)
	}
	r.answer(results...)
}

func (r *testRequest) answer(results ...string) {
	body := `{"results":[` + strings.Join(results, ",") + `]}`
	r.send(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
}

// send returns false if the client has ended the connection.
func (r *testRequest) send(text string) bool {
	_, err := io.WriteString(r.connection, text)
	return err == nil
}

func (r *testRequest) end() {
	_ = r.connection.Close()
}

// testService is a raw server on loopback, so that tests choose the bytes of a response.
type testService struct {
	url      string
	mutex    sync.Mutex
	arrived  *sync.Cond
	requests []*testRequest
}

// Requests that the test answers itself, or not at all.
func never(*testRequest) {}

func newTestService(t *testing.T, answer func(*testRequest)) *testService {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	service := &testService{url: "http://" + listener.Addr().String()}
	service.arrived = sync.NewCond(&service.mutex)
	var open sync.WaitGroup
	var connections []net.Conn
	open.Add(1)
	go func() {
		defer open.Done()
		for number := 1; ; number++ {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			service.mutex.Lock()
			connections = append(connections, connection)
			service.mutex.Unlock()
			open.Add(1)
			go func() {
				defer open.Done()
				service.serve(connection, number, answer)
			}()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		service.mutex.Lock()
		for _, each := range connections {
			each.Close()
		}
		service.mutex.Unlock()
		open.Wait()
	})
	return service
}

func (s *testService) serve(connection net.Conn, number int, answer func(*testRequest)) {
	reader := bufio.NewReader(connection)
	for {
		received, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		body, err := io.ReadAll(received.Body)
		if err != nil {
			return
		}
		var members struct{ Questions []askedQuestion }
		if err := json.Unmarshal(body, &members); err != nil || received.URL.Path != "/auth/verify/batch" {
			return
		}
		request := &testRequest{connection, number, len(body), received.Header.Get("Authorization"), members.Questions}
		s.mutex.Lock()
		s.requests = append(s.requests, request)
		s.arrived.Broadcast()
		s.mutex.Unlock()
		answer(request)
	}
}

// all waits for this count of requests, and returns those that have arrived.
func (s *testService) all(t *testing.T, count int) []*testRequest {
	t.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for len(s.requests) < count {
		s.arrived.Wait()
	}
	return append([]*testRequest{}, s.requests...)
}
