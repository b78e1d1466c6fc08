// Package webpush is Web Push without its HTTP: messages that only a browser can read (RFC 8291, one record of RFC 8188), and what tells a push
// service who sends them (VAPID, RFC 8292).
package webpush

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	recordSize = 4096
	secretSize = 16 // of the authentication secret, and of the salt
	keySize    = 65 // of an uncompressed point of P-256
	headSize   = secretSize + 4 + 1 + keySize
	delimiter  = 2 // behind the text of the last record
	overhead   = 1 + 16

	// MaxText is how much fits into one message that every push service takes: 4096 bytes with everything around it.
	MaxText = recordSize - headSize - overhead
)

// Reader is who a message is for: a subscription's keys.
type Reader struct {
	key    *ecdh.PublicKey
	secret []byte
}

// NewReader checks the keys of a subscription: p256dh and auth.
func NewReader(key, secret []byte) (Reader, error) {
	public, err := ecdh.P256().NewPublicKey(key)
	if err != nil {
		return Reader{}, fmt.Errorf("p256dh: %w", err)
	}
	if len(secret) != secretSize {
		return Reader{}, fmt.Errorf("auth has %d bytes, want %d", len(secret), secretSize)
	}
	return Reader{key: public, secret: secret}, nil
}

// Seal encrypts text for the reader: the body of a push, in content coding aes128gcm. Messages up to pad bytes come out equally long.
func (r Reader) Seal(text []byte, pad int) ([]byte, error) {
	sender, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	salt := make([]byte, secretSize)
	rand.Read(salt) //nolint:errcheck // it never fails
	return r.seal(text, pad, sender, salt)
}

func (r Reader) seal(text []byte, pad int, sender *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	if len(text) > MaxText || pad > MaxText {
		return nil, errors.New("the text does not fit into one message")
	}
	shared, err := sender.ECDH(r.key)
	if err != nil {
		return nil, fmt.Errorf("agree on a key: %w", err)
	}
	aead, nonce, err := keys(shared, r.secret, salt, r.key.Bytes(), sender.PublicKey().Bytes())
	if err != nil {
		return nil, err
	}
	plain := append(make([]byte, 0, max(len(text), pad)+1), text...)
	plain = append(plain, delimiter)
	plain = append(plain, make([]byte, max(0, pad-len(text)))...)

	out := append(make([]byte, 0, headSize+len(plain)+overhead), salt...)
	out = binary.BigEndian.AppendUint32(out, recordSize)
	out = append(out, keySize)
	out = append(out, sender.PublicKey().Bytes()...)
	return aead.Seal(out, nonce, plain, nil), nil
}

// keys derives what encrypts the one record (RFC 8291, 3.4).
func keys(shared, secret, salt, reader, sender []byte) (cipher.AEAD, []byte, error) {
	info := "WebPush: info\x00" + string(reader) + string(sender)
	material, err := hkdf.Key(sha256.New, shared, secret, info, sha256.Size)
	if err != nil {
		return nil, nil, err
	}
	pseudo, err := hkdf.Extract(sha256.New, material, salt)
	if err != nil {
		return nil, nil, err
	}
	key, err := hkdf.Expand(sha256.New, pseudo, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, nil, err
	}
	nonce, err := hkdf.Expand(sha256.New, pseudo, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, err
	}
	aead, err := cipher.NewGCM(block)
	return aead, nonce, err
}
