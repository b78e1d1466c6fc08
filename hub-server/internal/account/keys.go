package account

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// KeyID is the `kid` of a token key: an index into Keys, never a path or an address.
type KeyID string

// Keys is all key material of a hub: the same on every hub of a store.
type Keys struct {
	Signing  KeyID            // the token key that new access tokens get
	Tokens   map[KeyID]Secret // one, or during a rotation two, that are accepted
	Receipts Secret           // signs commit receipts and dispatches; never rotated with the token keys
	Answers  Secret           // seals stored answers of creating requests
}

const (
	keyFileVersion = 1
	maxTokenKeys   = 2
	minSecretBytes = 32
	minDistinct    = 12 // different byte values in a secret; 32 random bytes have about 30
)

// keyFile is the durable form. Secrets are base64 in JSON.
type keyFile struct {
	Version  int        `json:"version"`
	Signing  KeyID      `json:"signing_key"`
	Tokens   []tokenKey `json:"token_keys"`
	Receipts []byte     `json:"receipts_key"`
	Answers  []byte     `json:"answers_key"`
}

type tokenKey struct {
	ID     KeyID  `json:"kid"`
	Secret []byte `json:"secret"`
}

// NewKeys makes fresh key material.
func NewKeys() Keys {
	kid := newKeyID()
	return Keys{Signing: kid, Tokens: map[KeyID]Secret{kid: newSecret()}, Receipts: newSecret(), Answers: newSecret()}
}

// Rotated returns keys that sign with a new token key and still accept the one that signed until now.
func (k Keys) Rotated() Keys {
	kid := newKeyID()
	k.Tokens = map[KeyID]Secret{k.Signing: k.Tokens[k.Signing], kid: newSecret()}
	k.Signing = kid
	return k
}

func newKeyID() KeyID { return KeyID(hex.EncodeToString(newSecret()[:8])) }

func (k Keys) encode() ([]byte, error) {
	file := keyFile{Version: keyFileVersion, Signing: k.Signing, Receipts: k.Receipts, Answers: k.Answers}
	for kid, secret := range k.Tokens {
		file.Tokens = append(file.Tokens, tokenKey{kid, secret})
	}
	slices.SortFunc(file.Tokens, func(a, b tokenKey) int { return bytes.Compare([]byte(a.ID), []byte(b.ID)) })
	out, err := json.MarshalIndent(file, "", "  ")
	return append(out, '\n'), err
}

func decodeKeys(data []byte) (Keys, error) {
	var file keyFile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return Keys{}, errors.New("not a key file") // the decoder's text could quote a secret
	}
	if file.Version != keyFileVersion {
		return Keys{}, fmt.Errorf("version %d is not known to this hub", file.Version)
	}
	keys := Keys{Signing: file.Signing, Tokens: map[KeyID]Secret{}, Receipts: file.Receipts, Answers: file.Answers}
	for _, t := range file.Tokens {
		keys.Tokens[t.ID] = t.Secret
	}
	if len(keys.Tokens) != len(file.Tokens) {
		return Keys{}, errors.New("two token keys have the same kid")
	}
	return keys, keys.check()
}

// check refuses material that somebody typed instead of drawing it (SEC6).
func (k Keys) check() error {
	if len(k.Tokens) == 0 || len(k.Tokens) > maxTokenKeys {
		return fmt.Errorf("want one or two token keys, have %d", len(k.Tokens))
	}
	if _, ok := k.Tokens[k.Signing]; !ok {
		return errors.New("signing_key names no token key")
	}
	seen := map[string]bool{}
	secrets := map[string]Secret{"receipts_key": k.Receipts, "answers_key": k.Answers}
	for kid, secret := range k.Tokens {
		secrets["token key "+string(kid)] = secret
	}
	for name, secret := range secrets {
		if err := checkSecret(secret); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if seen[string(secret)] {
			return fmt.Errorf("%s: the same secret is used for something else", name)
		}
		seen[string(secret)] = true
	}
	return nil
}

func checkSecret(secret Secret) error {
	distinct := map[byte]bool{}
	for _, b := range secret {
		distinct[b] = true
	}
	if len(secret) < minSecretBytes || len(distinct) < minDistinct {
		return fmt.Errorf("weak secret: want %d random bytes (move the file away and the hub makes a good one)", minSecretBytes)
	}
	return nil
}
