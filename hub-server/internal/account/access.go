package account

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// What access tokens say about themselves.
const (
	AccessLifetime = 15 * time.Minute
	tokenIssuer    = "switchyard-hub"
	tokenAudience  = "switchyard-client"
	clockLeeway    = 30 * time.Second
	maxAccessBytes = 4096
)

// AccessToken is a signed JWT (HS256). It is never logged.
type AccessToken string

func (AccessToken) String() string { return redacted }

// claims are exactly what a token of ours carries.
type claims struct {
	jwt.RegisteredClaims
	Device     string `json:"device_id"`
	DeviceType string `json:"device_type"`
	Family     string `json:"family_id"`
}

// Issuer signs access tokens with the current key and checks them against all accepted ones. It is safe for concurrent use.
type Issuer struct {
	keys *Keyring
	now  Clock
}

// NewIssuer returns an issuer over the ring; now is the hub's clock.
func NewIssuer(keys *Keyring, now Clock) *Issuer { return &Issuer{keys: keys, now: now} }

// Issue returns a token for the device that is good for AccessLifetime.
func (i *Issuer) Issue(d Device) (AccessToken, error) {
	now, keys := i.now.Moment(), i.keys.Current()
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: tokenIssuer, Audience: jwt.ClaimStrings{tokenAudience}, Subject: string(d.User), ID: uuid.NewString(),
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(AccessLifetime)),
		},
		Device: string(d.ID), DeviceType: string(d.Type), Family: string(d.Family),
	})
	token.Header["kid"] = string(keys.Signing)
	signed, err := token.SignedString([]byte(keys.Tokens[keys.Signing]))
	if err != nil {
		return "", fmt.Errorf("sign access token: %w", err)
	}
	return AccessToken(signed), nil
}

// identity is what a valid token claims. Whether its family still lives is for the store to say.
type identity struct {
	user   id.User
	device id.Device
	family Family
}

// verify accepts nothing but HS256 under an accepted kid with every claim in place (SEC4). Every refusal is Unauthenticated.
func (i *Issuer) verify(token AccessToken) (identity, error) {
	if len(token) > maxAccessBytes || strings.Count(string(token), ".") != 2 {
		return identity{}, unauthenticated(errors.New("not a token"))
	}
	var c claims
	_, err := jwt.ParseWithClaims(string(token), &c, i.key,
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithIssuer(tokenIssuer), jwt.WithAudience(tokenAudience),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(clockLeeway),
		jwt.WithTimeFunc(i.now), jwt.WithStrictDecoding())
	if err != nil {
		return identity{}, unauthenticated(err)
	}
	return c.identity()
}

func (i *Issuer) key(t *jwt.Token) (any, error) {
	kid, ok := t.Header["kid"].(string)
	if !ok {
		return nil, errors.New("no kid")
	}
	secret, ok := i.keys.Accepting(KeyID(kid))
	if !ok {
		return nil, errors.New("unknown kid")
	}
	return []byte(secret), nil
}

func (c claims) identity() (identity, error) {
	user, userErr := id.ParseUser(c.Subject)
	device, deviceErr := id.ParseDevice(c.Device)
	switch {
	case userErr != nil || deviceErr != nil || c.Family == "" || c.ID == "":
		return identity{}, unauthenticated(errors.New("claim missing"))
	case c.IssuedAt == nil || c.ExpiresAt.Sub(c.IssuedAt.Time) > AccessLifetime:
		return identity{}, unauthenticated(errors.New("lives too long"))
	}
	return identity{user: user, device: device, family: Family(c.Family)}, nil
}

// unauthenticated says the same to every caller, whatever the cause was.
func unauthenticated(cause error) error {
	return fault.Wrap(cause, fault.Unauthenticated, "Log in again: the credential is missing, expired or no longer valid.")
}
