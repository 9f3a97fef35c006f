// Package keyreeve verifies API keys and access tokens of Keyreeve.
//
// Each verification asks the service after the call, so a deleted key is refused. Verifications that wait together share one
// request. Nothing is cached.
//
// A [Client] verifies credentials, and [Client.Guard] protects an [net/http.Handler].
package keyreeve
