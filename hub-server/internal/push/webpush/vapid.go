package webpush

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"
)

// vouchFor is how long a push service may believe a signature; RFC 8292 allows a day.
const vouchFor = 12 * time.Hour

// Sender signs pushes as one application server: subscriptions made for its key are its alone.
type Sender struct {
	key     *ecdsa.PrivateKey
	public  string
	contact string
}

// NewSender derives the key of a sender from a secret: the same secret always gives the same one, on every hub that has it. contact is how a push
// service reaches whoever runs the hub, mailto: or https:, or "".
func NewSender(secret []byte, contact string) (*Sender, error) {
	const info, attempts = "switchyard: vapid", 8
	for i := range attempts { // not every string of 32 bytes is a key: one in four billion is none
		scalar, err := hkdf.Key(sha256.New, secret, []byte{byte(i)}, info, sha256.Size)
		if err != nil {
			return nil, fmt.Errorf("derive key: %w", err)
		}
		key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar)
		if err != nil {
			continue
		}
		public, err := key.PublicKey.Bytes()
		if err != nil {
			return nil, fmt.Errorf("encode key: %w", err)
		}
		return &Sender{key: key, public: base64.RawURLEncoding.EncodeToString(public), contact: contact}, nil
	}
	return nil, errors.New("no key can be derived")
}

// PublicKey is what a browser subscribes with (applicationServerKey), in base64url without padding.
func (s *Sender) PublicKey() string { return s.public }

// Authorization is the value of that header for a push to endpoint.
func (s *Sender) Authorization(endpoint string, now time.Time) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", errors.New("the endpoint is no URL")
	}
	claims := map[string]any{"aud": u.Scheme + "://" + u.Host, "exp": now.Add(vouchFor).Unix()}
	if s.contact != "" {
		claims["sub"] = s.contact
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("encode claims: %w", err)
	}
	signed := encode([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + encode(body)
	digest := sha256.Sum256([]byte(signed))
	r, sig, err := ecdsa.Sign(rand.Reader, s.key, digest[:])
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	raw := make([]byte, 64) // JWS wants both numbers side by side, not ASN.1
	r.FillBytes(raw[:32])
	sig.FillBytes(raw[32:])
	return fmt.Sprintf("vapid t=%s.%s, k=%s", signed, encode(raw), s.public), nil
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
