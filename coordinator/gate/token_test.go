package gate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/gram-compute/gram/coordinator/gate"
)

func TestTokensHideTheirSecret(t *testing.T) {
	token := gate.NewToken()
	secret := token.Reveal()[len("gram_"+token.ID+"_"):]
	type hidden struct{ token gate.Token }
	type shown struct{ Token gate.Token }
	for _, value := range []any{token, &token, []gate.Token{token}, map[string]gate.Token{"t": token}, hidden{token},
		&hidden{token}, shown{token}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X"} {
			checkHidden(t, secret, fmt.Sprintf(verb, value), verb, value)
		}
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		checkHidden(t, secret, string(text), "JSON", value)
		var log bytes.Buffer
		for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
			slog.New(handler).Info("x", "token", value)
		}
		checkHidden(t, secret, log.String(), "slog", value)
	}
	if text := fmt.Sprint(token); !strings.Contains(text, token.ID) {
		t.Errorf("%s does not say which token it is", text)
	}
}

func checkHidden(t *testing.T, secret, text, how string, value any) {
	t.Helper()
	for _, form := range []string{secret, fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret),
		fmt.Sprint([]byte(secret))} {
		if strings.Contains(text, form) {
			t.Errorf("%s of a %T shows the secret: %s", how, value, text)
		}
	}
}

func TestParseTokenReadsWhatRevealWrote(t *testing.T) {
	token := gate.NewToken()
	for range 100 { // some secrets hold the separator
		if token = gate.NewToken(); strings.Contains(token.Reveal()[len("gram_"+token.ID+"_"):], "_") {
			break
		}
	}
	parsed, err := gate.ParseToken(" " + token.Reveal() + "\n")
	if err != nil || parsed.ID != token.ID || !bytes.Equal(parsed.SecretSHA256(), token.SecretSHA256()) {
		t.Fatalf("parsed %v: %v", parsed, err)
	}
	if token.Reveal() == gate.NewToken().Reveal() {
		t.Error("two tokens are the same")
	}
	for _, bad := range []string{"", "gram_", "gram_id", "gram_id_", "gram__secret", "Gram_id_secret", "id_secret",
		"gram_id_" + strings.Repeat("x", 300)} {
		if _, err := gate.ParseToken(bad); !errors.Is(err, gate.ErrUnauthenticated) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A token may have 256 bytes with the blanks around it.
func TestTokensHaveABoundedLength(t *testing.T) {
	for length, read := range map[int]bool{255: true, 256: true, 257: false} {
		for _, text := range []string{
			"gram_id_" + strings.Repeat("x", length-len("gram_id_")),
			"gram_id_x" + strings.Repeat(" ", length-len("gram_id_x")),
		} {
			if _, err := gate.ParseToken(text); (err == nil) != read {
				t.Errorf("a token of %d bytes, %d with blanks: %v", len(strings.TrimSpace(text)), length, err)
			}
		}
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add(gate.NewToken().Reveal())
	f.Add("gram_a_b")
	f.Add("gram__")
	f.Fuzz(func(t *testing.T, text string) {
		token, err := gate.ParseToken(text)
		if err == nil && token.Reveal() != strings.TrimSpace(text) {
			t.Errorf("%q was read as %q", text, token.Reveal())
		}
	})
}
