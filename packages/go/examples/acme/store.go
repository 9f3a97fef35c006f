package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zalando/go-keyring"
)

// The key is in the key store of the system, if there is one; otherwise in a file that only its owner can read. ACME_KEY_FILE names
// another file, which is used in any case.
const service, user = "acme-cli", "key"

type heldKey struct {
	Key      string `json:"key"`
	KeyID    int64  `json:"keyId"`
	Nickname string `json:"nickname"`
}

// hasKeyring is false without a key store, as over SSH.
func hasKeyring() bool {
	if os.Getenv("ACME_KEY_FILE") != "" {
		return false
	}
	_, err := keyring.Get(service, user)
	return err == nil || errors.Is(err, keyring.ErrNotFound)
}

func keyFile() (string, error) {
	if path := os.Getenv("ACME_KEY_FILE"); path != "" {
		return path, nil
	}
	folder, err := os.UserConfigDir()
	return filepath.Join(folder, "acme", "key.json"), err
}

func store(held heldKey) error {
	if err := forget(); err != nil {
		return err
	}
	text, err := json.Marshal(held)
	if err != nil {
		return err
	}
	if hasKeyring() {
		return keyring.Set(service, user, string(text))
	}
	path, err := keyFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

func signedIn() (heldKey, error) {
	text, err := read()
	var held heldKey
	if errors.Is(err, fs.ErrNotExist) {
		return held, errors.New("you are not signed in: run `acme login`")
	}
	if err != nil {
		return held, err
	}
	return held, json.Unmarshal(text, &held)
}

func read() ([]byte, error) {
	if hasKeyring() {
		if text, err := keyring.Get(service, user); err == nil {
			return []byte(text), nil
		}
	}
	path, err := keyFile()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

func forget() error {
	if hasKeyring() {
		if err := keyring.Delete(service, user); err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return err
		}
	}
	path, err := keyFile()
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
