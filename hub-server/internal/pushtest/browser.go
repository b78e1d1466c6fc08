// Package pushtest receives pushes in tests: a browser with its push service, and an ntfy server. Both are written from the RFCs and the protocol,
// with nothing of the sender in them.
package pushtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"time"
)

// Browser is what reads pushes: the keys of a subscription.
type Browser struct {
	key    *ecdh.PrivateKey
	secret []byte
}

// NewBrowser makes a subscription's keys.
func NewBrowser() *Browser {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	secret := make([]byte, 16)
	rand.Read(secret) //nolint:errcheck // it never fails
	return &Browser{key: key, secret: secret}
}

// ExampleBrowser has the keys of RFC 8291, appendix A.
func ExampleBrowser() *Browser {
	key, err := ecdh.P256().NewPrivateKey(Decode("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
	if err != nil {
		panic(err)
	}
	return &Browser{key: key, secret: Decode("BTBZMqHH6r4Tts7J_aSIgg")}
}

// Key and Secret are p256dh and auth of the subscription.
func (b *Browser) Key() []byte { return b.key.PublicKey().Bytes() }

// Secret is what Key says.
func (b *Browser) Secret() []byte { return b.secret }

// Open decrypts the body of a push (RFC 8291 over RFC 8188).
func (b *Browser) Open(body []byte) ([]byte, error) {
	const head = 16 + 4 + 1
	if len(body) < head || len(body) > 4096 {
		return nil, fmt.Errorf("a body of %d bytes", len(body))
	}
	salt, size, idLength := body[:16], binary.BigEndian.Uint32(body[16:]), int(body[20])
	if len(body) < head+idLength || uint32(len(body)-head-idLength) > size {
		return nil, errors.New("more than one record")
	}
	id, record := body[head:head+idLength], body[head+idLength:]
	sender, err := ecdh.P256().NewPublicKey(id)
	if err != nil {
		return nil, err
	}
	shared, err := b.key.ECDH(sender)
	if err != nil {
		return nil, err
	}
	material := mac(mac(b.secret, shared), []byte("WebPush: info\x00"), b.Key(), id, []byte{1})
	pseudo := mac(salt, material)
	block, err := aes.NewCipher(mac(pseudo, []byte("Content-Encoding: aes128gcm\x00\x01"))[:16])
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, mac(pseudo, []byte("Content-Encoding: nonce\x00\x01"))[:12], record, nil)
	if err != nil {
		return nil, err
	}
	text := strings.TrimRight(string(plain), "\x00")
	if !strings.HasSuffix(text, "\x02") {
		return nil, errors.New("no delimiter of a last record")
	}
	return []byte(text[:len(text)-1]), nil
}

// Vouched checks the Authorization of a push to a service at origin (RFC 8292), made with that public key, and returns its claims.
func Vouched(header http.Header, origin, publicKey string, now time.Time) (map[string]any, error) {
	scheme, parameters, _ := strings.Cut(header.Get("Authorization"), " ")
	named := map[string]string{}
	for part := range strings.SplitSeq(parameters, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		named[name] = value
	}
	parts := strings.Split(named["t"], ".")
	if scheme != "vapid" || named["k"] != publicKey || len(parts) != 3 {
		return nil, fmt.Errorf("authorization %q", header.Get("Authorization"))
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), Decode(publicKey))
	if err != nil {
		return nil, err
	}
	digest, signature := sha256.Sum256([]byte(parts[0]+"."+parts[1])), Decode(parts[2])
	if len(signature) != 64 || !ecdsa.Verify(key, digest[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return nil, errors.New("the signature does not fit")
	}
	var head struct{ Typ, Alg string }
	var claims map[string]any
	if err := errors.Join(json.Unmarshal(Decode(parts[0]), &head), json.Unmarshal(Decode(parts[1]), &claims)); err != nil {
		return nil, err
	}
	expires, _ := claims["exp"].(float64)
	left := time.Unix(int64(expires), 0).Sub(now)
	if head.Alg != "ES256" || head.Typ != "JWT" || claims["aud"] != origin || left <= 0 || left > 24*time.Hour {
		return nil, fmt.Errorf("head %+v, claims %v", head, claims)
	}
	return claims, nil
}

func mac(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// Decode reads base64url without padding.
func Decode(text string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}
