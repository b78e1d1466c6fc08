package localapi

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// Token opens the local API to programs that can read the edge's folder. Secret.
type Token string

const (
	tokenFile  = "local.token"
	tokenBytes = 32
)

// LoadToken reads the token of the edge in home, and makes one at the first start.
func LoadToken(home string) (Token, error) {
	t, err := ReadToken(home)
	if !errors.Is(err, fs.ErrNotExist) {
		return t, err
	}
	raw := make([]byte, tokenBytes)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24
	t = Token(base64.RawURLEncoding.EncodeToString(raw))
	if err := os.WriteFile(filepath.Join(home, tokenFile), []byte(t+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write local token: %w", err)
	}
	return t, nil
}

// ReadToken reads the token of the edge in home; the error wraps fs.ErrNotExist if that edge was never started.
func ReadToken(home string) (Token, error) {
	text, err := os.ReadFile(filepath.Join(home, tokenFile))
	if err != nil {
		return "", fmt.Errorf("read local token: %w", err)
	}
	t := Token(strings.TrimSpace(string(text)))
	if len(t) < tokenBytes {
		return "", fmt.Errorf("read local token: %s is damaged; remove it and start the edge again", tokenFile)
	}
	return t, nil
}

// in says whether a request carries the token.
func (t Token) in(r *http.Request) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(given), []byte(t)) == 1
}

func (t Token) require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !t.in(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the local token of this edge is needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
