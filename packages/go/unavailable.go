package keyreeve

import "errors"

// ErrUnavailable is the only failure of a verification: the result is not known. Reject the credential.
//
// Use [errors.Is], because the error of a call also has the reason: the failure of the connection, that of the context, or an [Error]
// with the response of the service. It contains no credential.
var ErrUnavailable = errors.New("keyreeve: unavailable")

type unavailableError struct {
	reason string
	cause  error
}

func unavailable(reason string) error {
	return &unavailableError{reason: reason}
}

func unavailableBecause(cause error) error {
	return &unavailableError{reason: cause.Error(), cause: cause}
}

func (e *unavailableError) Error() string {
	return ErrUnavailable.Error() + ": " + e.reason
}

func (e *unavailableError) Is(target error) bool {
	return target == ErrUnavailable
}

func (e *unavailableError) Unwrap() error {
	return e.cause
}
