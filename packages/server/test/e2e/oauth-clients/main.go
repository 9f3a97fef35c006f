// A client of golang.org/x/oauth2 that gets a short-lived secret, or signs a person in as a device, and sends what it gets. Its input is
// a request as JSON; its output has the status of the response, or the error of the token endpoint. Before, a device writes the user code.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

type request struct {
	DeviceURL    string            `json:"deviceUrl"`
	Scope        string            `json:"scope"`
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
	client, err := of.client(context.Background())
	if err != nil {
		return outcomeOf(err)
	}
	response, err := client.Get(of.ResourceURL)
	if err != nil {
		return outcomeOf(err)
	}
	defer response.Body.Close()
	return outcome{Status: response.StatusCode}, nil
}

func outcomeOf(err error) (outcome, error) {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		return outcome{Error: refused.ErrorCode}, nil
	}
	return outcome{}, err
}

func (of request) client(ctx context.Context) (*http.Client, error) {
	if of.DeviceURL != "" {
		return of.deviceClient(ctx)
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
	return config.Client(ctx), nil
}

func (of request) deviceClient(ctx context.Context) (*http.Client, error) {
	endpoint := oauth2.Endpoint{DeviceAuthURL: of.DeviceURL, TokenURL: of.TokenURL}
	config := oauth2.Config{ClientID: of.ClientID, Scopes: []string{of.Scope}, Endpoint: endpoint}
	begun, err := config.DeviceAuth(ctx)
	if err != nil {
		return nil, err
	}
	fmt.Println(begun.UserCode)
	token, err := config.DeviceAccessToken(ctx, begun)
	if err != nil {
		return nil, err
	}
	return config.Client(ctx, token), nil
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
