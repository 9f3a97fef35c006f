package keyreeve

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"strings"
)

// transportOf returns that of the program, or a new one.
func transportOf(own http.RoundTripper, tlsConfig *tls.Config) (http.RoundTripper, error) {
	if own == nil {
		return &http.Transport{TLSClientConfig: tlsConfig.Clone(), IdleConnTimeout: idleMax}, nil
	}
	if tlsConfig != nil {
		return nil, invalid("TLSConfig: expected none beside Transport, which has one of its own")
	}
	return own, nil
}

// roundTrip sends a request with a transport of the program, which does not show whether a byte of a response has arrived: the error
// is never errUnanswered. A redirect is an answer like every other status.
func roundTrip(
	ctx context.Context, transport http.RoundTripper, method, url string, header http.Header, body string,
) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header = header
	response, err := transport.RoundTrip(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, answerBytesMax+1))
	if err != nil {
		return answer{}, err
	}
	if len(text) > answerBytesMax {
		return answer{}, errors.New("the response is too long")
	}
	return answer{response.StatusCode, text, response.Header.Get("Retry-After")}, nil
}
