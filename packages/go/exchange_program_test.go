package keyreeve

import (
	"errors"
	"log"
	"os"
)

// programExchange starts a source of secrets, which packages/conformance/README.md describes.
type programExchange struct {
	URL      string    `json:"url"`
	KeyID    int64     `json:"keyId"`
	Audience string    `json:"audience"`
	Token    [2]string `json:"token"`
}

type programSource struct {
	Source string `json:"source"`
	Secret string `json:"secret"`
}

func (p programExchange) start() (*ExchangedSecrets, *manualClock) {
	config := ExchangeConfig{URL: p.URL, KeyID: p.KeyID, Audience: p.Audience}
	switch p.Token[0] {
	case "file":
		config.IdentityToken = TokenFromFile(p.Token[1])
	case "github":
		must(0, os.Setenv("ACTIONS_ID_TOKEN_REQUEST_URL", p.Token[1]))
		must(0, os.Setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "request-token"))
		config.IdentityToken = GitHubToken
	case "google":
		must(0, os.Setenv("GCE_METADATA_HOST", p.Token[1]))
		config.IdentityToken = GoogleToken
	default:
		log.Fatal("no function for ", p.Token[0])
	}
	source := must(Exchange(config))
	clock := newManualClock()
	source.clock = clock
	return source, clock
}

// describe is what the program writes of a failure.
func describe(err error) map[string]any {
	described := map[string]any{"message": err.Error()}
	var failure *Error
	if errors.As(err, &failure) {
		described["status"], described["code"] = failure.Status, failure.Code
	}
	return described
}
