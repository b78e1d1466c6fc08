package account

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSEC26SecretsPrintAsMasks(t *testing.T) {
	token, secret, access := NewToken(RefreshToken), newSecret(), AccessToken("header.payload.signature")
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "token", token, "secret", secret)
	printed := log.String() + fmt.Sprint(token, secret, access) + fmt.Sprintf("%s %v %q", token, secret, access)
	for _, canary := range []string{string(token), string(secret), string(access), string(token[4:])} {
		if strings.Contains(printed, canary) {
			t.Errorf("%q appears in %q", canary, printed)
		}
	}
}

func TestTokensAreRecognisedByPrefixAndLength(t *testing.T) {
	token := NewToken(EdgeToken)
	if !token.Is(EdgeToken) || token.Is(RefreshToken) || (token + "x").Is(EdgeToken) || Token("").Is(EdgeToken) {
		t.Fatalf("%q is not told apart", string(token))
	}
}

func TestSEC27BootstrapTokenIsForTheHubsOwnerAndSurvivesARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bootstrap.token")
	file := NewBootstrapFile(path)
	if err := file.ensure(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	token, err := file.read()
	if err != nil || !file.matches(token) || file.matches(NewToken(BootstrapToken)) || file.matches("") {
		t.Fatalf("token %q, %v", string(token), err)
	}
	if err := NewBootstrapFile(path).ensure(); err != nil {
		t.Fatal(err)
	}
	if !file.matches(token) {
		t.Fatal("a restart made another token")
	}
	if err := os.WriteFile(path, []byte("syb_half"), 0o600); err != nil { // what a crash may leave
		t.Fatal(err)
	}
	if err := file.ensure(); err != nil {
		t.Fatal(err)
	}
	if whole, err := file.read(); err != nil || !whole.Is(BootstrapToken) {
		t.Fatalf("after half a file: %q, %v", string(whole), err)
	}
}
