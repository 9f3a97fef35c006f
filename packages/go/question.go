package keyreeve

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	credentialBytesMax = 4_096
	scopesMax          = 32
	environmentsMax    = 8
	costMax            = 10_000
)

var (
	scopeForm       = regexp.MustCompile(`^[\x21\x23-\x5B\x5D-\x7E]{1,64}$`)
	environmentForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,15}$`)
)

// ErrInvalid is the error of an option or a configuration that the service or the client does not accept. Use [errors.Is].
var ErrInvalid = errors.New("keyreeve")

func invalid(text string) error {
	return fmt.Errorf("%w: %s", ErrInvalid, text)
}

// Options are what a credential must satisfy.
type Options struct {
	// The credential must have all of them, at most 32. An access token has none.
	Scopes []string
	// The IP address of the client that presents the credential, for keys that are limited to IP ranges. Without a port.
	Address string
	// The accepted environments, 1 to 8. Default: the first one of the installation.
	Environments []string
	// Tokens that the verification spends from each limit, 0 to 10,000, made by [Cost]. 0 only checks the limits. Default: 1.
	Cost *int
}

// Cost makes the option of the same name.
func Cost(tokens int) *int {
	return &tokens
}

// check returns an error for options that the service rejects, except an unknown environment: the service rejects all
// questions of a batch for one of them.
func (o Options) check() error {
	if len(o.Scopes) > scopesMax || !allMatch(scopeForm, o.Scopes) {
		return invalid(fmt.Sprintf("Scopes: expected at most %d scopes of RFC 6749 with at most 64 characters each", scopesMax))
	}
	isEmpty := o.Environments != nil && len(o.Environments) == 0
	if isEmpty || len(o.Environments) > environmentsMax || !allMatch(environmentForm, o.Environments) {
		return invalid(fmt.Sprintf("Environments: expected 1 to %d names of environments", environmentsMax))
	}
	if o.Address != "" && !isIPAddress(o.Address) {
		return invalid("Address: expected an IP address without a port, such as 203.0.113.7")
	}
	if o.Cost != nil && (*o.Cost < 0 || *o.Cost > costMax) {
		return invalid(fmt.Sprintf("Cost: expected a whole number from 0 to %d", costMax))
	}
	return nil
}

func allMatch(form *regexp.Regexp, texts []string) bool {
	for _, text := range texts {
		if !form.MatchString(text) {
			return false
		}
	}
	return true
}

// Without port, brackets or zone id.
func isIPAddress(text string) bool {
	address, err := netip.ParseAddr(text)
	return err == nil && address.Zone() == ""
}

// question is one credential with its options, as an entry of `questions` of `POST /auth/verify/batch`.
type question struct {
	// JSON, with the members in a fixed order: equal questions have equal texts.
	text string
	// Whether it spends nothing, so that equal questions can share an entry, and the client can repeat it.
	isFree bool
	// Equal for equal lists of environments.
	environments string
}

// canBeCredential decides by the length only, because prefixes can change: at most 4,096 bytes. Text that is not UTF-8 has no
// form in JSON, so the client cannot send it.
func canBeCredential(text string) bool {
	return text != "" && len(text) <= credentialBytesMax && utf8.ValidString(text)
}

func questionOf(credential string, options Options) (question, error) {
	members := struct {
		Credential   string   `json:"credential"`
		Scopes       []string `json:"scopes,omitempty"`
		Environments []string `json:"environments,omitempty"`
		Address      string   `json:"address,omitempty"`
		Cost         *int     `json:"cost,omitempty"`
	}{credential, options.Scopes, options.Environments, options.Address, options.Cost}
	text, err := json.Marshal(members)
	isFree := options.Cost != nil && *options.Cost == 0
	return question{string(text), isFree, strings.Join(options.Environments, " ")}, err
}

// clone copies the options, so that the caller can change its own.
func (o Options) clone() Options {
	o.Scopes, o.Environments = slices.Clone(o.Scopes), slices.Clone(o.Environments)
	if o.Cost != nil {
		o.Cost = Cost(*o.Cost)
	}
	return o
}
