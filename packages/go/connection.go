package keyreeve

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	// 256 results with the longest metadata, scopes and nicknames have less than half of it. The headers count too.
	answerBytesMax = 4_194_304
	// Shorter than the 65 s of the service and the 60 s of common load balancers.
	idleMax = 30 * time.Second
	// A proxy can send interim responses (RFC 9110 section 15.2) before the response.
	interimMax = 5
)

// errUnanswered means that the request failed, and no byte of a response has arrived.
var errUnanswered = errors.New("no response")

// dialer opens a connection to the service.
type dialer func(ctx context.Context) (*connection, error)

// answer is a response whose content has arrived completely. A redirect is an answer like every other status.
type answer struct {
	status int
	text   []byte
	// The field of this name.
	retryAfter string
}

// connection is one connection to the service, which stays open between batches. One goroutine at a time uses it.
//
// It is not an [http.Transport], which repeats some requests itself, does not tell on which connection, and reports the end of a
// connection with the same errors before and within a response.
type connection struct {
	target  destination
	network net.Conn
	// The same, or TLS over it.
	stream net.Conn
	reader *bufio.Reader
	// Bounds what is read for a response.
	limit *io.LimitedReader
	// Whether the service closes it after the response, or has sent more than that.
	isSpent bool
	// Ends the timer of an idle connection. Set while it is idle.
	endIdle func() bool
}

const userAgent = "keyreeve-go"

func headerOf(authorization string) http.Header {
	return http.Header{
		"Authorization": {authorization},
		"Content-Type":  {"application/json"},
		"User-Agent":    {userAgent},
	}
}

func newDialer(target destination, tlsConfig *tls.Config) dialer {
	// Kept, because TLS sessions are resumed by its cache.
	secured := tlsConfigOf(target, tlsConfig)
	return func(ctx context.Context) (*connection, error) {
		network, err := (&net.Dialer{}).DialContext(ctx, "tcp", target.address)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errUnanswered, err)
		}
		stream := network
		if target.isTLS {
			secure := tls.Client(network, secured)
			if err := secure.HandshakeContext(ctx); err != nil {
				network.Close()
				return nil, fmt.Errorf("%w: %w", errUnanswered, err)
			}
			stream = secure
		}
		limit := &io.LimitedReader{R: stream}
		reader := bufio.NewReader(limit)
		return &connection{target: target, network: network, stream: stream, reader: reader, limit: limit}, nil
	}
}

func tlsConfigOf(target destination, own *tls.Config) *tls.Config {
	config := own.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	if config.ServerName == "" {
		config.ServerName = target.url.Hostname()
	}
	if config.ClientSessionCache == nil {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	}
	config.NextProtos = []string{"http/1.1"}
	return config
}

// send sends a batch. The error is errUnanswered if no byte of a response has arrived. After an error, the connection cannot be
// used again.
func (c *connection) send(ctx context.Context, header http.Header, body string) (answer, error) {
	request, head, err := c.request(header, body)
	if err != nil {
		return answer{}, err
	}
	stop := context.AfterFunc(ctx, c.close)
	received, err := c.exchange(request, head)
	if !stop() {
		return answer{}, ctx.Err()
	}
	return received, err
}

func (c *connection) request(header http.Header, body string) (*http.Request, []byte, error) {
	request, err := http.NewRequest(http.MethodPost, c.target.url.String(), strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header = header
	var text bytes.Buffer
	err = request.Write(&text)
	return request, text.Bytes(), err
}

func (c *connection) exchange(request *http.Request, text []byte) (answer, error) {
	c.limit.N = answerBytesMax
	// If sending fails, the service may have answered before it read the whole body.
	_, _ = c.stream.Write(text)
	if _, err := c.reader.Peek(1); err != nil {
		return answer{}, fmt.Errorf("%w: %w", errUnanswered, err)
	}
	received, err := c.read(request)
	if c.limit.N <= 0 {
		return answer{}, errors.New("the response is too long")
	}
	return received, err
}

func (c *connection) read(request *http.Request) (answer, error) {
	for range interimMax {
		response, err := http.ReadResponse(c.reader, request)
		if err != nil {
			// The cause repeats what was read.
			return answer{}, errors.New("the response is not HTTP, or it ended early")
		}
		if response.StatusCode < http.StatusOK && response.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		text, err := io.ReadAll(response.Body)
		if err != nil {
			return answer{}, err
		}
		c.isSpent = response.Close || response.StatusCode == http.StatusSwitchingProtocols || c.reader.Buffered() > 0
		return answer{response.StatusCode, text, response.Header.Get("Retry-After")}, nil
	}
	return answer{}, errors.New("the service answered with interim responses only")
}

// isUsable ends the idle time. Nothing arrives on an idle connection but its end: detecting that avoids failures of questions
// with a cost, which are never repeated. Bytes that belong to no request make it unusable too.
func (c *connection) isUsable() bool {
	c.endIdle()
	return isQuiet(c.network)
}

// close does not end TLS properly, which could block. Any goroutine can call it: it ends a request that is in flight.
func (c *connection) close() {
	_ = c.network.Close()
}
