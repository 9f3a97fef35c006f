// A command line whose users sign in with Keyreeve: acme login, acme whoami, acme logout.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"
	"unicode"

	qr "github.com/piglig/go-qr"

	"keyreeve"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	commands := map[string]func(context.Context) error{"login": login, "whoami": whoami, "logout": logout}
	command := commands[strings.Join(os.Args[1:], " ")]
	err := errors.New("usage: acme login | whoami | logout")
	if command != nil {
		err = command(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "acme:", err)
		os.Exit(1)
	}
}

func serviceURL() string {
	if text := os.Getenv("KEYREEVE_URL"); text != "" {
		return text
	}
	return "https://auth.example.com"
}

func config() keyreeve.DeviceLoginConfig {
	return keyreeve.DeviceLoginConfig{URL: serviceURL(), ClientID: "acme-cli", QRCode: qrCode}
}

func login(ctx context.Context) error {
	key, err := keyreeve.DeviceLogin(ctx, config())
	if err != nil {
		return err
	}
	if err := store(heldKey{Key: key.Key, KeyID: key.KeyID, Nickname: key.Nickname}); err != nil {
		return err
	}
	fmt.Printf("Signed in until %s with the key “%s”\n", key.ExpiresAt.Format(time.DateOnly), key.Nickname)
	return nil
}

// whoami: replace the URL with that of your API, which verifies the key.
func whoami(ctx context.Context) error {
	held, err := signedIn()
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, serviceURL()+"/auth/forward", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+held.Key)
	// A redirect could send the key to another host.
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		scopes := strings.Join(strings.FieldsFunc(response.Header.Get("X-Keyreeve-Scopes"), isNotPrintable), "")
		fmt.Printf("%s: %s\n", held.Nickname, scopes)
		return nil
	case http.StatusUnauthorized:
		return errors.New("the key is not accepted: run `acme login`")
	default:
		return fmt.Errorf("the service answered %d", response.StatusCode)
	}
}

func isNotPrintable(character rune) bool {
	return !unicode.IsPrint(character)
}

func logout(ctx context.Context) error {
	held, err := signedIn()
	if err != nil {
		return err
	}
	failure := keyreeve.DeviceLogout(ctx, config(), held.Key)
	if err := forget(); err != nil {
		return err
	}
	if failure != nil {
		text := "signed out only here (%w). The key “%s” (%d) may still be valid: delete it at %s/console"
		return fmt.Errorf(text, failure, held.Nickname, held.KeyID, serviceURL())
	}
	fmt.Printf("Signed out. The key “%s” has been deleted\n", held.Nickname)
	return nil
}

// qrCode draws two rows of modules in a line, in black on white, whatever the colours of the terminal are.
func qrCode(link string) (string, error) {
	code, err := qr.EncodeText(link, qr.Low)
	if err != nil {
		return "", err
	}
	const margin = 2
	var drawn strings.Builder
	for y := -margin; y < code.Size()+margin; y += 2 {
		drawn.WriteString("\x1B[30;107m")
		for x := -margin; x < code.Size()+margin; x++ {
			top, bottom := code.Module(x, y), code.Module(x, y+1)
			switch {
			case top && bottom:
				drawn.WriteRune('█')
			case top:
				drawn.WriteRune('▀')
			case bottom:
				drawn.WriteRune('▄')
			default:
				drawn.WriteRune(' ')
			}
		}
		drawn.WriteString("\x1B[0m\n")
	}
	return drawn.String(), nil
}
