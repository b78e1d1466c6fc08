package account

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"fmt"
)

// seal encrypts data so that only a holder of key can read it, and only in the same context.
func seal(key, data, context []byte) ([]byte, error) {
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, data, context), nil
}

func open(key, sealed, context []byte) ([]byte, error) {
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	data, err := aead.Open(nil, nil, sealed, context)
	if err != nil {
		return nil, fmt.Errorf("open sealed value: %w", err)
	}
	return data, nil
}

// newAEAD accepts a key of any length: AES-256-GCM under its hash, with a random nonce in front of the ciphertext.
func newAEAD(key []byte) (cipher.AEAD, error) {
	sum := sha256.Sum256(key)
	block, err := aes.NewCipher(sum[:])
	if err != nil {
		return nil, fmt.Errorf("make cipher: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}
