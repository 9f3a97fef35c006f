package keyreeve

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// receivedResult is a result with the text that it was read from.
type receivedResult struct {
	result Result
	text   json.RawMessage
}

// readResults reads the body of a batch's answer. The results are matched to the questions by position. It returns an error if the
// text is not exactly one result for each question.
func readResults(text []byte, count int) ([]receivedResult, error) {
	var members map[string]json.RawMessage
	var texts []json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, errors.New("the answer is not a JSON object")
	}
	if err := json.Unmarshal(members["results"], &texts); err != nil || texts == nil {
		return nil, errors.New("the answer has no list of results")
	}
	if len(texts) != count {
		return nil, fmt.Errorf("the answer has %d results for %d questions", len(texts), count)
	}
	results := make([]receivedResult, count)
	for index, each := range texts {
		result, err := readResult(each)
		if err != nil {
			return nil, err
		}
		results[index] = receivedResult{result, each}
	}
	return results, nil
}

// readResult ignores members that it does not know.
func readResult(text json.RawMessage) (Result, error) {
	// A struct would also accept names in other cases, such as VALID.
	var members resultMembers
	if err := json.Unmarshal(text, &members); err != nil {
		return Result{}, errors.New("the answer has a result that is not an object")
	}
	var valid *bool
	if err := members.read("valid", &valid); err != nil {
		return Result{}, err
	}
	switch {
	case valid == nil:
		return Result{}, errors.New("the answer has a result that is neither accepted nor refused")
	case *valid:
		return members.accepted()
	default:
		return members.refused()
	}
}

type resultMembers map[string]json.RawMessage

func (m resultMembers) accepted() (Result, error) {
	result := Result{Valid: true}
	err := errors.Join(
		m.readName("type", &result.Type),
		m.readName("accountId", &result.AccountID),
		m.read("keyId", &result.KeyID),
		m.read("nickname", &result.Nickname),
		m.read("scopes", &result.Scopes),
		m.readInstant("expiresAt", &result.ExpiresAt),
		m.read("environment", &result.Environment),
		m.read("metadata", &result.Metadata),
		m.readLimits(&result.Limits),
	)
	if result.Type != typeAPIKey && result.Type != typeAccessToken {
		err = errors.Join(err, errors.New("the answer has a result of an unknown type"))
	}
	if err != nil {
		return Result{}, err
	}
	return result, nil
}

func (m resultMembers) refused() (Result, error) {
	result := Result{}
	err := errors.Join(
		m.readName("code", &result.Code),
		m.read("retryAfterSeconds", &result.RetryAfterSeconds),
		m.readInstant("resetsAt", &result.ResetsAt),
		m.readLimits(&result.Limits),
	)
	if err != nil {
		return Result{}, err
	}
	return result, nil
}

// read leaves the target as it is if the member is absent or null.
func (m resultMembers) read(name string, target any) error {
	text, ok := m[name]
	if !ok || string(text) == "null" {
		return nil
	}
	if err := json.Unmarshal(text, target); err != nil {
		return fmt.Errorf("the answer has a result with another type of %s", name)
	}
	return nil
}

// readName reads a text that must not be empty.
func (m resultMembers) readName(name string, target *string) error {
	if err := m.read(name, target); err != nil {
		return err
	}
	if *target == "" {
		return fmt.Errorf("the answer has a result without %s", name)
	}
	return nil
}

func (m resultMembers) readInstant(name string, target *time.Time) error {
	var text *string
	if err := m.read(name, &text); err != nil || text == nil {
		return err
	}
	instant, err := time.Parse(time.RFC3339, *text)
	if err != nil {
		return fmt.Errorf("the answer has a result with another form of %s", name)
	}
	*target = instant
	return nil
}

func (m resultMembers) readLimits(target *[]RemainingLimit) error {
	var all []resultMembers
	if err := m.read("limits", &all); err != nil || all == nil {
		return err
	}
	limits := make([]RemainingLimit, len(all))
	for index, each := range all {
		limit, err := each.limit()
		if err != nil {
			return err
		}
		limits[index] = limit
	}
	*target = limits
	return nil
}

func (m resultMembers) limit() (RemainingLimit, error) {
	var read RemainingLimit
	var limit, remaining *int64
	err := errors.Join(
		m.readName("policy", &read.Policy),
		m.read("limit", &limit),
		m.read("remaining", &remaining),
		m.read("windowSeconds", &read.WindowSeconds),
		m.read("resetSeconds", &read.ResetSeconds),
	)
	if err == nil && (limit == nil || remaining == nil) {
		err = errors.New("the answer has a limit without its tokens")
	}
	if err != nil {
		return RemainingLimit{}, err
	}
	read.Limit, read.Remaining = *limit, *remaining
	return read, nil
}
