// A program for `npm run bench -- sdk-go`, like bench/sdk-load.ts: it verifies credentials in closed loops, with the library or with
// one request for each over net/http, and prints one line of JSON.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"keyreeve"
)

type options struct {
	Port       int    `json:"port"`
	ServiceKey string `json:"serviceKey"`
	Keys       struct {
		Path        string `json:"path"`
		RecordBytes int    `json:"recordBytes"`
	} `json:"keys"`
	How     string  `json:"how"`
	Loops   int     `json:"loops"`
	Seconds float64 `json:"seconds"`
}

type loadResult struct {
	Requests  int     `json:"requests"`
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"perSecond"`
	Failures  int     `json:"failures"`
	MsP50     float64 `json:"msP50"`
	MsP99     float64 `json:"msP99"`
	// Not measured here.
	GeneratorShare float64 `json:"generatorShare"`
}

func oneRequestEach(given options, url string) func(string) bool {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: given.Loops}}
	return func(credential string) bool {
		body, _ := json.Marshal(map[string]string{"credential": credential})
		request, err := http.NewRequest(http.MethodPost, url+"/auth/verify", bytes.NewReader(body))
		if err != nil {
			return false
		}
		request.Header.Set("Authorization", "Bearer "+given.ServiceKey)
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		var result struct{ Valid bool }
		return json.NewDecoder(response.Body).Decode(&result) == nil && result.Valid
	}
}

func library(given options, url string) func(string) bool {
	client, err := keyreeve.New(keyreeve.Config{URL: url, ServiceKey: given.ServiceKey})
	if err != nil {
		log.Fatal(err)
	}
	return func(credential string) bool {
		result, err := client.Verify(context.Background(), credential, keyreeve.Options{})
		return err == nil && result.Valid
	}
}

func main() {
	var given options
	if err := json.Unmarshal([]byte(os.Args[1]), &given); err != nil {
		log.Fatal(err)
	}
	records, err := os.ReadFile(given.Keys.Path)
	if err != nil {
		log.Fatal(err)
	}
	url := fmt.Sprintf("http://127.0.0.1:%d", given.Port)
	verify := oneRequestEach(given, url)
	if given.How == "library" {
		verify = library(given, url)
	}
	begun := time.Now()
	var mutex sync.Mutex
	var loops sync.WaitGroup
	var latencies []float64
	failures := 0
	for range given.Loops {
		loops.Add(1)
		go func() {
			defer loops.Done()
			for time.Since(begun).Seconds() < given.Seconds {
				start := rand.IntN(len(records)/given.Keys.RecordBytes) * given.Keys.RecordBytes
				credential := string(bytes.TrimSpace(records[start : start+given.Keys.RecordBytes]))
				sent := time.Now()
				ok := verify(credential)
				took := time.Since(sent).Seconds() * 1_000
				mutex.Lock()
				latencies = append(latencies, took)
				if !ok {
					failures++
				}
				mutex.Unlock()
			}
		}()
	}
	loops.Wait()
	took := time.Since(begun).Seconds()
	slices.Sort(latencies)
	quantile := func(q float64) float64 { return latencies[int(float64(len(latencies))*q)] }
	count := len(latencies)
	result := loadResult{count, took, float64(count) / took, failures, quantile(0.5), quantile(0.99), 0}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		log.Fatal(err)
	}
}
