package keyreeve

import (
	"regexp"
	"slices"
	"strings"
)

const valueBytesMax = 4_096

var bearerForm = regexp.MustCompile(`^(?i:bearer) +([\x21-\x2B\x2D-\x7E]+) *$`)

// requestCredential is the credential of a client's request. It is never read from the query or a cookie.
type requestCredential struct {
	text string
	// X-API-Key is for API keys only.
	isAPIKeyHeader bool
}

// credentialOf is like the service at `/auth/forward`: two credentials are refused, even equal ones. An empty or blank line is
// none. The second result is the code of the problem, or empty.
func credentialOf(header map[string][]string) (requestCredential, string) {
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
	bearer := bearerForm.FindStringSubmatch(value)
	if bearer == nil {
		return requestCredential{}, problemInvalidCredential
	}
	return requestCredential{bearer[1], false}, ""
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
