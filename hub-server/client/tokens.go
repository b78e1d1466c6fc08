package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Credentials are what a device needs to speak for its user. They are secrets: keep them in a file of mode 0600.
type Credentials struct {
	UserID       string    `json:"user_id"`
	UserName     string    `json:"user_name"`
	DeviceID     string    `json:"device_id"`
	AccessToken  string    `json:"access_token"`
	ExpiresAt    time.Time `json:"expires_at"` // of the access token
	RefreshToken string    `json:"refresh_token"`
}

// CredentialsOf keeps what an answer with tokens says.
func CredentialsOf(t Tokens) Credentials {
	return Credentials{
		UserID: string(t.User.ID), UserName: t.User.Name, DeviceID: string(t.Device.ID),
		AccessToken: t.AccessToken, RefreshToken: string(t.RefreshToken),
		ExpiresAt: time.Now().Add(time.Duration(t.ExpiresIn) * time.Second),
	}
}

// Keeper holds the credentials of one device.
type Keeper interface {
	// Load returns the newest credentials, ErrLoggedOut if there are none.
	Load() (Credentials, error)
	// Save replaces them, durably: a refresh token works only once.
	Save(Credentials) error
}

// ErrLoggedOut says that there are no credentials, or that the hub does not take them any more. Log in again.
var ErrLoggedOut = errors.New("not logged in")

// refreshBefore is how long before its expiry an access token is replaced.
const refreshBefore = time.Minute

// tokenSource gives access tokens and renews them, one renewal at a time.
type tokenSource struct {
	keeper Keeper
	api    *API // without credentials

	mu sync.Mutex
}

// token returns an access token that is good for a while. refused is one that the hub has just turned down, or "".
func (s *tokenSource) token(ctx context.Context, refused string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.keeper.Load()
	if err != nil {
		return "", err
	}
	if c.AccessToken != refused && time.Until(c.ExpiresAt) > refreshBefore {
		return c.AccessToken, nil
	}
	return s.renew(ctx, c)
}

func (s *tokenSource) renew(ctx context.Context, c Credentials) (string, error) {
	tokens, err := Decode[Tokens](s.api.RefreshTokens(ctx, RefreshTokensJSONRequestBody{RefreshToken: c.RefreshToken}))
	var problem *ProblemError
	if errors.As(err, &problem) && problem.Status == http.StatusUnauthorized {
		return "", fmt.Errorf("%w: %w", ErrLoggedOut, err)
	}
	if err != nil {
		return "", err
	}
	renewed := CredentialsOf(tokens)
	if err := s.keeper.Save(renewed); err != nil {
		return "", fmt.Errorf("keep renewed credentials: %w", err)
	}
	return renewed.AccessToken, nil
}

// bearerTransport adds the access token, and tries once more with a new one when the hub answers 401.
type bearerTransport struct {
	next   http.RoundTripper
	tokens *tokenSource
}

func (t *bearerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	token, err := t.tokens.token(req.Context(), "")
	if err != nil {
		return nil, err
	}
	resp, err := t.next.RoundTrip(withBearer(req, token))
	if err != nil || resp.StatusCode != http.StatusUnauthorized || (req.Body != nil && req.GetBody == nil) {
		return resp, err
	}
	resp.Body.Close() //nolint:errcheck // the answer is thrown away
	if token, err = t.tokens.token(req.Context(), token); err != nil {
		return nil, err
	}
	again := withBearer(req, token)
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return t.next.RoundTrip(again)
}

func withBearer(req *http.Request, token string) *http.Request {
	clone := req.Clone(req.Context())
	clone.Header.Set("Authorization", "Bearer "+token)
	return clone
}
