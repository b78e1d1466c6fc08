package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// refreshBefore is how long before its expiry an access token is replaced.
	refreshBefore = time.Minute
	// renewWithin bounds one renewal. It goes on when the caller has given up: the hub has spent the old token by then, and an answer
	// that nobody keeps would log the device out.
	renewWithin = 20 * time.Second
)

// tokenSource gives access tokens and renews them, one renewal at a time.
type tokenSource struct {
	keeper  Keeper
	open    *API // without credentials
	dropped atomic.Bool
}

func newTokenSource(keeper Keeper, open *API) *tokenSource {
	return &tokenSource{keeper: keeper, open: open}
}

// drop makes the source give nothing any more and its keeper forget: the login belongs to another connection of this device now (S3, device.kicked). Two that
// renew one login would end it for both.
func (s *tokenSource) drop() error {
	s.dropped.Store(true)
	if keeper, can := s.keeper.(Forgetter); can {
		return keeper.Forget()
	}
	return nil
}

// token returns an access token that is good for a while. refused is one that the hub has just turned down, or "".
func (s *tokenSource) token(ctx context.Context, refused string) (string, error) {
	if s.dropped.Load() {
		return "", ErrKicked
	}
	c, err := s.keeper.Load()
	if err != nil {
		return "", err
	}
	if good(c, refused) {
		return c.AccessToken, nil
	}
	err = s.keeper.Update(ctx, func(newest Credentials) (Credentials, error) {
		c = newest
		if good(newest, refused) { // somebody else was faster
			return newest, nil
		}
		c, err = s.renew(ctx, newest)
		return c, err
	})
	return c.AccessToken, err
}

func good(c Credentials, refused string) bool {
	return c.AccessToken != refused && time.Until(c.ExpiresAt) > refreshBefore
}

func (s *tokenSource) renew(ctx context.Context, c Credentials) (Credentials, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewWithin)
	defer cancel()
	tokens, err := Decode[Tokens](s.open.RefreshTokens(ctx, RefreshTokensJSONRequestBody{RefreshToken: c.RefreshToken}))
	var problem *ProblemError
	if errors.As(err, &problem) && problem.Status == http.StatusUnauthorized {
		return Credentials{}, fmt.Errorf("%w: %w", ErrLoggedOut, err)
	}
	if err != nil {
		return Credentials{}, fmt.Errorf("renew credentials: %w", err)
	}
	return CredentialsOf(tokens), nil
}
