package client

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"
)

func TestAnExpiringTokenIsRenewedOnceForAllWhoAskAtOnce(t *testing.T) {
	h := newFakeHub(t)
	c, keeper := h.client(time.Second)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := Decode[Me](c.API().GetMe(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := h.renewed(); got != 1 {
		t.Errorf("%d renewals, want 1", got)
	}
	kept, err := keeper.Load()
	if err != nil || kept.RefreshToken != "refresh-1" || kept.Username != "ada" {
		t.Errorf("kept %+v, %v", kept, err)
	}
}

func TestARefusedTokenIsRenewedAndTheRequestSentAgainWithItsBody(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	h.expire()
	s, err := Decode[Session](c.API().CreateGroupSession(t.Context(), &CreateGroupSessionParams{IdempotencyKey: "12345678"}, GroupSessionInput{Name: "demo"}))
	if err != nil || s.Name != "demo" {
		t.Fatalf("session %+v, %v", s, err)
	}
	if got := h.renewed(); got != 1 {
		t.Errorf("%d renewals, want 1", got)
	}
}

func TestARefusedRenewalMeansLoggedOut(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Second)
	h.renewable = false
	_, err := Decode[Me](c.API().GetMe(t.Context()))
	if !errors.Is(err, ErrLoggedOut) || errors.Is(err, ErrUnreachable) {
		t.Fatalf("error %v, want only ErrLoggedOut", err)
	}
	if err := follow(t, c, &place{}).end(); !errors.Is(err, ErrLoggedOut) {
		t.Fatalf("stream ended with %v", err)
	}
}

// A hub spends the old refresh token when it answers. If the caller's end threw the answer away, the device would be logged out.
func TestARenewalIsFinishedThoughItsCallerHasGone(t *testing.T) {
	h := newFakeHub(t)
	c, keeper := h.client(time.Second)
	h.slowly = make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	finished := make(chan error)
	go func() {
		_, err := c.tokens.token(ctx, "")
		finished <- err
	}()
	h.slowly <- struct{}{} // the hub has the request
	cancel()
	h.slowly <- struct{}{} // and answers it
	if err := <-finished; err != nil {
		t.Fatal(err)
	}
	if kept, _ := keeper.Load(); kept.RefreshToken != "refresh-1" {
		t.Fatalf("kept %q", kept.RefreshToken)
	}
}

func TestWhoWaitsForAnothersRenewalCanGiveUp(t *testing.T) {
	keeper := NewMemoryKeeper(Credentials{RefreshToken: "r"})
	keeper.turn <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := keeper.Update(ctx, func(c Credentials) (Credentials, error) { return c, nil })
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
}

func TestAnAnswerThatIsNoHubsSaysSo(t *testing.T) {
	h := newFakeHub(t)
	c, _ := h.client(time.Hour)
	_, err := Decode[Agent](c.API().GetAgent(t.Context(), "agent_1")) // the fake has no such route
	if CodeOf(err) != ProblemUnexpected {
		t.Fatalf("error %v, want an unexpected answer", err)
	}
	h.server.Close()
	_, err = Decode[Me](c.API().GetMe(t.Context()))
	if !errors.Is(err, ErrUnreachable) {
		t.Fatalf("error %v, want unreachable", err)
	}
}

func TestAnAddressThatIsNoneIsRefused(t *testing.T) {
	for _, hub := range []string{"", "127.0.0.1:8080", "ftp://hub", "http://", "http://%zz"} {
		if _, err := New(Options{Hub: hub}); err == nil {
			t.Errorf("%q was taken", hub)
		}
		if _, err := Anonymous(Options{Hub: hub}); err == nil {
			t.Errorf("%q was taken without credentials", hub)
		}
	}
	if c, err := New(Options{Hub: "https://hub.example/base/"}); err != nil || c.Hub() != "https://hub.example/base" {
		t.Errorf("base address: %v", err)
	}
}

func TestRetryAfterIsRead(t *testing.T) {
	for value, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "2592000": 5 * time.Minute, "-1": 0, "soon": 0} {
		if got := retryAfter(http.Header{"Retry-After": {value}}); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}
