package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
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

	mu     sync.Mutex
	unkept unkept
}

// unkept are credentials that the hub has given and the keeper could not write, say to a full disk. Those that it has are spent. Zero: none.
type unkept struct {
	spent Secret
	news  Credentials
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
	kept, err := s.keeper.Load()
	if err != nil {
		return "", err
	}
	c := s.newest(kept)
	known := c != kept
	if good(c, refused) && !known {
		return c.AccessToken, nil
	}
	err = s.keeper.Update(ctx, func(kept Credentials) (_ Credentials, err error) {
		if c = s.newest(kept); good(c, refused) { // somebody else was faster
			return c, nil
		}
		if c, err = s.renew(ctx, c); err == nil {
			s.note(unkept{spent: kept.RefreshToken, news: c})
		}
		return c, err
	})
	if err == nil {
		s.kept(c)
	}
	if known && good(c, refused) { // that it cannot be kept was said when it came
		err = nil
	}
	return c.AccessToken, err
}

// settle tries again to keep what could not be kept. A client that only follows the stream asks for no token for hours.
func (s *tokenSource) settle(ctx context.Context) {
	s.mu.Lock()
	owed := s.unkept != unkept{}
	s.mu.Unlock()
	if owed {
		s.token(ctx, "") //nolint:errcheck // it was said, and is tried again
	}
}

// newest returns the credentials that the hub takes, of those that the keeper has and those that it could not keep.
func (s *tokenSource) newest(kept Credentials) Credentials {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unkept != (unkept{}) && s.unkept.spent == kept.RefreshToken {
		return s.unkept.news
	}
	return kept
}

func (s *tokenSource) note(u unkept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unkept = u
}

// kept forgets what was noted if it is c.
func (s *tokenSource) kept(c Credentials) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unkept.news == c {
		s.unkept = unkept{}
	}
}

func good(c Credentials, refused string) bool {
	return c.AccessToken != refused && time.Until(c.ExpiresAt) > refreshBefore
}

func (s *tokenSource) renew(ctx context.Context, c Credentials) (Credentials, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewWithin)
	defer cancel()
	tokens, err := Decode[Tokens](s.open.RefreshTokens(ctx, RefreshTokensJSONRequestBody{RefreshToken: c.RefreshToken}))
	var problem *ProblemError
	if errors.As(err, &problem) && problem.Status == http.StatusUnauthorized && problem.Code != ProblemUnexpected { // a proxy's 401 is about the proxy
		return Credentials{}, fmt.Errorf("%w: %w", ErrLoggedOut, err)
	}
	if err != nil {
		return Credentials{}, fmt.Errorf("renew credentials: %w", err)
	}
	return CredentialsOf(tokens), nil
}

// user is whose credentials these are; "" if there are none or they do not say.
func (s *tokenSource) user() UserID {
	c, err := s.keeper.Load()
	if err != nil {
		return ""
	}
	return c.UserID
}
