package keyreeve

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
)

const valueBytesMax = 4_096

var (
	bearerForm = regexp.MustCompile(`^(?i:bearer) +([\x21-\x2B\x2D-\x7E]+) *$`)
	basicForm  = regexp.MustCompile(`^(?i:basic) +([A-Za-z0-9+/]+={0,2})$`)
	keyForm    = regexp.MustCompile(`^[\x21-\x2B\x2D-\x7E]+$`)
)

// requestCredential is the credential of a client's request. It is never read from the query or a cookie.
type requestCredential struct {
	text string
	// X-API-Key and Basic are for API keys only.
	isKeyOnly bool
}

// credentialOf is like the service at `/auth/forward`: two credentials are refused, even equal ones. An empty or blank line is
// none. acceptsBasic is whether an API key may be a Basic credential. The second result is the code of the problem, or empty.
func credentialOf(header map[string][]string, acceptsBasic bool) (requestCredential, string) {
	authorization, apiKey := notBlank(header, "Authorization"), notBlank(header, "X-Api-Key")
	values := slices.Concat(authorization, apiKey)
	if len(values) == 0 {
		return requestCredential{}, problemMissingCredential
	}
	if len(values) > 1 {
		return requestCredential{}, problemAmbiguousCredentials
	}
	value := values[0]
	if len(value) > valueBytesMax {
		return requestCredential{}, problemInvalidCredential
	}
	// Proxies join the lines of a repeated header with a comma. No credential contains one.
	if strings.Contains(value, ",") {
		return requestCredential{}, problemAmbiguousCredentials
	}
	if len(apiKey) > 0 {
		if strings.Contains(value, " ") {
			return requestCredential{}, problemInvalidCredential
		}
		return requestCredential{textOfLatin1(value), true}, ""
	}
	if bearer := bearerForm.FindStringSubmatch(value); bearer != nil {
		return requestCredential{bearer[1], false}, ""
	}
	if acceptsBasic {
		if key := keyOfBasic(value); key != "" {
			return requestCredential{key, true}, ""
		}
	}
	return requestCredential{}, problemInvalidCredential
}

// keyOfBasic returns the password with any user name, or the user name with an empty password. It returns an empty text for any
// other form.
func keyOfBasic(value string) string {
	basic := basicForm.FindStringSubmatch(value)
	if basic == nil {
		return ""
	}
	// Padding bits that are not zero would give one credential several encodings.
	decoded, err := base64.StdEncoding.Strict().DecodeString(basic[1])
	if err != nil {
		return ""
	}
	user, password, hasColon := strings.Cut(string(decoded), ":")
	if !hasColon || strings.ContainsFunc(user, isControl) {
		return ""
	}
	key := password
	if key == "" {
		key = user
	}
	if !keyForm.MatchString(key) {
		return ""
	}
	return key
}

func isControl(character rune) bool {
	return character < 0x20 || character == 0x7F
}

func notBlank(header map[string][]string, wanted string) []string {
	var present []string
	for name, lines := range header {
		if !strings.EqualFold(name, wanted) {
			continue
		}
		for _, line := range lines {
			if strings.Trim(line, " \t") != "" {
				present = append(present, line)
			}
		}
	}
	return present
}

// The bytes of a header are Latin-1 for the service.
func textOfLatin1(value string) string {
	characters := make([]rune, len(value))
	for index := range len(value) {
		characters[index] = rune(value[index])
	}
	return string(characters)
}
