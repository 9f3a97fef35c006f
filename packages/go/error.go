package keyreeve

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Error is a response of the service without the expected content: the reason of a failed verification or exchange, or of a failed
// request to manage keys or service accounts. Use [errors.As].
type Error struct {
	// Of the response. 0 without one, which does not happen in verifications.
	Status int
	// Of the problem document (RFC 9457), such as "nickname_taken", or of the error of the exchange, such as "invalid_grant".
	// "unavailable" without one.
	Code string
	// Of Retry-After. Nil without it, and for a date.
	RetryAfterSeconds *int64
	// Of the problem document, without control characters, which a terminal would follow.
	Detail string
	cause  error
}

// Error returns no credential.
func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("keyreeve: no response: %v", e.cause)
	}
	if e.Status == 0 {
		return "keyreeve: " + e.Detail
	}
	text := fmt.Sprintf("the service answered %d", e.Status)
	if e.Code != unavailableCode {
		text += " (" + e.Code + ")"
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

var (
	codeForm    = regexp.MustCompile(`^[a-z_]{1,64}$`)
	secondsForm = regexp.MustCompile(`^[0-9]{1,9}$`)
)

// Unwrap returns the failure of the connection or the context, without a response.
func (e *Error) Unwrap() error {
	return e.cause
}

func errorOf(received answer) *Error {
	failure := &Error{Status: received.status, Code: unavailableCode}
	var problem struct {
		Code, Detail string
		// Of an OAuth endpoint (RFC 6749 section 5.2).
		Error       string
		Description string `json:"error_description"`
	}
	isProblem := json.Unmarshal(received.text, &problem) == nil
	if isProblem && codeForm.MatchString(problem.Code) {
		failure.Code, failure.Detail = problem.Code, problem.Detail
	} else if isProblem && codeForm.MatchString(problem.Error) {
		failure.Code, failure.Detail = problem.Error, problem.Description
	}
	failure.Detail = strings.Map(printable, failure.Detail)
	if secondsForm.MatchString(received.retryAfter) {
		seconds, _ := strconv.ParseInt(received.retryAfter, 10, 64)
		failure.RetryAfterSeconds = &seconds
	}
	return failure
}

func printable(character rune) rune {
	if unicode.IsControl(character) {
		return ' '
	}
	return character
}
