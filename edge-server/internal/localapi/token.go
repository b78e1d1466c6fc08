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
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/durable"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// Token opens the local API to programs that can read the edge's folder. Secret.
type Token string

const (
	tokenFile  = "local.token"
	tokenBytes = 32

	tokenHeader    = "X-AgentHub-Edge-Token"     // what programs of other edges send
	bearerProtocol = "switchyard.edge.bearer.v1" // marker of the subprotocol pair; all that is answered (S3 edge plane)
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
	if err := durable.Replace(filepath.Join(home, tokenFile), []byte(t+"\n")); err != nil {
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

// in says whether a request carries the token. The first carrier that is there counts; the subprotocol pair is for browsers, which can set no
// header on a socket.
func (t Token) in(r *http.Request) bool {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, given, _ := strings.Cut(header, " ")
		return strings.EqualFold(scheme, "Bearer") && t.is(strings.TrimSpace(given))
	}
	if given := r.Header.Get(tokenHeader); given != "" {
		return t.is(given)
	}
	offered := strings.Split(strings.Join(r.Header.Values("Sec-WebSocket-Protocol"), ","), ",")
	return len(offered) == 2 && strings.TrimSpace(offered[0]) == bearerProtocol && t.is(strings.TrimSpace(offered[1]))
}

func (t Token) is(given string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(t)) == 1
}

func (t Token) header() http.Header { return http.Header{"Authorization": {"Bearer " + string(t)}} }

func (t Token) require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !t.in(r) {
			refuse(w, fault.New(fault.Unauthenticated, "Send the token of this edge, which is in %s in its home folder, as bearer.", tokenFile))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// outOfURLs refuses requests with a token in the URL, where logs and histories would keep it.
func (t Token) outOfURLs(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.URL.Query() {
			if telemetry.Secret(name) || slices.ContainsFunc(values, t.is) {
				refuse(w, fault.New(fault.InvalidRequest, "Send the token in a header, never in the URL."))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
