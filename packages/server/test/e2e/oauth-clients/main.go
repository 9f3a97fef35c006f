// A client of golang.org/x/oauth2 that gets a short-lived secret and sends it. Its input is a request as JSON; its output has the status
// of the response, or the error of the token endpoint.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

type request struct {
	TokenURL     string            `json:"tokenUrl"`
	ResourceURL  string            `json:"resourceUrl"`
	ClientID     string            `json:"clientId"`
	ClientSecret string            `json:"clientSecret"`
	Parameters   map[string]string `json:"parameters"`
}

type outcome struct {
	Status int    `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

func run() (outcome, error) {
	var of request
	if err := json.NewDecoder(os.Stdin).Decode(&of); err != nil {
		return outcome{}, err
	}
	config := clientcredentials.Config{
		ClientID:       of.ClientID,
		ClientSecret:   of.ClientSecret,
		TokenURL:       of.TokenURL,
		EndpointParams: url.Values{},
	}
	// With a secret, the library finds out by itself whether it sends Basic.
	if of.ClientSecret == "" {
		config.AuthStyle = oauth2.AuthStyleInParams
	}
	for name, value := range of.Parameters {
		config.EndpointParams.Set(name, value)
	}
	response, err := config.Client(context.Background()).Get(of.ResourceURL)
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		return outcome{Error: refused.ErrorCode}, nil
	}
	if err != nil {
		return outcome{}, err
	}
	defer response.Body.Close()
	return outcome{Status: response.StatusCode}, nil
}

func main() {
	found, err := run()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(found)
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
}
