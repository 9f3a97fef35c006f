package keyreeve

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// destination is where requests go. Plain HTTP is only for loopback, because every request contains a credential.
type destination struct {
	url   *url.URL
	isTLS bool
	// Host and port, as the dialer needs them.
	address string
}

// destinationOf needs a path below that of the URL.
func destinationOf(text string, allowPlainHTTP bool, path string) (destination, error) {
	parsed, err := url.Parse(text)
	if err != nil || !isServiceURL(text, parsed) {
		return destination{}, invalid("URL: expected the URL of Keyreeve, such as https://auth.example.com")
	}
	isTLS := parsed.Scheme == "https"
	if !isTLS && !isLoopback(parsed.Hostname()) && !allowPlainHTTP {
		return destination{}, invalid("URL: plain HTTP is allowed to loopback only; use https, or set AllowPlainHTTP")
	}
	port := parsed.Port()
	if port == "" {
		port = map[bool]string{false: "80", true: "443"}[isTLS]
	}
	target := parsed.JoinPath(path)
	return destination{target, isTLS, net.JoinHostPort(parsed.Hostname(), port)}, nil
}

// A URL without a user, query and fragment. The marks are also searched for in the text, because an empty query leaves no trace.
func isServiceURL(text string, parsed *url.URL) bool {
	for _, character := range text {
		if character <= ' ' || character > '~' || strings.ContainsRune(`@?#\`, character) {
			return false
		}
	}
	port, err := strconv.ParseUint(parsed.Port(), 10, 16)
	isPort := parsed.Port() == "" || (err == nil && port > 0)
	return (parsed.Scheme == "http" || parsed.Scheme == "https") && parsed.Hostname() != "" && isPort
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || (err == nil && address.IsLoopback() && address.Zone() == "")
}
