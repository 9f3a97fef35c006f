// Package keyreeve verifies API keys and access tokens of Keyreeve.
//
// Each verification asks the service after the call, so a deleted key is refused. Verifications that wait together share one
// request. Nothing is cached.
//
// A [Client] verifies credentials, [Client.Guard] protects an [net/http.Handler], and a [Check] the requests of other frameworks.
package keyreeve
