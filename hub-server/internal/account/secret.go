package account

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"strings"
)

// Token is an opaque bearer secret: a prefix that says what it is for, and 256 random bits. It is shown once and stored as its Hash.
type Token string

// TokenHash is what the store keeps of a Token. The token has 256 bits of its own, so a plain SHA-256 suffices.
type TokenHash [sha256.Size]byte

// TokenPrefix says what a token is for, to people and to secret scanners.
type TokenPrefix string

// Prefixes of all opaque tokens of the hub.
const (
	BootstrapToken  TokenPrefix = "syb_"
	InvitationToken TokenPrefix = "syi_"
	RefreshToken    TokenPrefix = "syr_"
	EnrolmentToken  TokenPrefix = "syt_"
	EdgeToken       TokenPrefix = "sye_"
)

const (
	secretBytes = 32
	tokenChars  = 43 // of 32 bytes in base64url
	redacted    = "[redacted]"
)

// NewToken makes a token that nobody can guess.
func NewToken(prefix TokenPrefix) Token {
	return Token(string(prefix) + base64.RawURLEncoding.EncodeToString(newSecret()))
}

// Is says whether t has the shape of a token with that prefix. Check it before hashing: input from outside may be of any size.
func (t Token) Is(prefix TokenPrefix) bool {
	rest, ok := strings.CutPrefix(string(t), string(prefix))
	return ok && len(rest) == tokenChars
}

// Hash is what to store and to look up.
func (t Token) Hash() TokenHash { return sha256.Sum256([]byte(t)) }

// String and LogValue keep tokens out of logs and error texts; convert with string(t) where the secret itself is meant.
func (t Token) String() string { return redacted }

// LogValue hides the token from structured logs.
func (t Token) LogValue() slog.Value { return slog.StringValue(redacted) }

// Secret is key material. It prints as a mask.
type Secret []byte

func (s Secret) String() string { return redacted }

// LogValue hides the secret from structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

func newSecret() Secret {
	raw := make([]byte, secretBytes)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24
	return raw
}
