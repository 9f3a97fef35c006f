package keyreeve

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
)

var serviceKeyForm = regexp.MustCompile(`^[\x21-\x2B\x2D-\x7E]+$`)

// KeyFunc returns the current key of the client's own requests, so that it can change in a running process. It is called for each
// request, and the context ends when no caller waits any more.
type KeyFunc func(ctx context.Context) (string, error)

// KeyFromFile returns a function that reads the key from a file.
func KeyFromFile(path string) KeyFunc {
	return func(context.Context) (string, error) {
		text, err := os.ReadFile(path)
		return strings.TrimSpace(string(text)), err
	}
}

// authorizationOf returns a function that returns the field Authorization. Exactly one of the text and the function is needed.
func authorizationOf(name, text string, read KeyFunc) (KeyFunc, error) {
	if read == nil {
		if !serviceKeyForm.MatchString(text) {
			return nil, invalid(name + ": expected an API key")
		}
		return func(context.Context) (string, error) { return "Bearer " + text, nil }, nil
	}
	if text != "" {
		return nil, invalid(name + ": expected none beside " + name + "Func")
	}
	return func(ctx context.Context) (string, error) {
		key, err := read(ctx)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		if !serviceKeyForm.MatchString(key) {
			return "", fmt.Errorf("%s: the function has returned no API key", name)
		}
		return "Bearer " + key, nil
	}, nil
}
