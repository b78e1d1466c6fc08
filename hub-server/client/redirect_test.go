package client

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A login is for the hub that it was made at. Wherever an answer points, nothing is sent there.
func TestNoRedirectIsFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		t.Errorf("%s %s came elsewhere, with %q and %q", r.Method, r.URL, r.Header.Get("Authorization"), body)
	}))
	t.Cleanup(elsewhere.Close)
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, status)
		}))
		t.Cleanup(hub.Close)
		for what, try := range map[string]func(c *Client, opts Options) error{
			"a request": func(c *Client, _ Options) error {
				_, err := Decode[Me](c.API().GetMe(t.Context()))
				return err
			},
			"a file": func(c *Client, _ Options) error {
				_, err := Content(c.API().GetArtifactContent(t.Context(), "art_1"))
				return err
			},
			"a login": func(_ *Client, opts Options) error {
				_, err := LogIn(t.Context(), opts, input)
				return err
			},
			"a socket": func(c *Client, _ Options) error { return follow(t, c, &place{}).down() },
			"a renewal": func(c *Client, _ Options) error {
				_, err := c.tokens.token(t.Context(), "access-0")
				return err
			},
		} {
			opts := Options{Hub: hub.URL, Transport: &http.Transport{DisableKeepAlives: true}, Keeper: NewMemoryKeeper(Credentials{
				AccessToken: "access-0", RefreshToken: "refresh-0", ExpiresAt: time.Now().Add(time.Hour),
			})}
			c, err := New(opts)
			if err != nil {
				t.Fatal(err)
			}
			if err := try(c, opts); CodeOf(err) != ProblemUnexpected || !strings.Contains(err.Error(), elsewhere.URL) {
				t.Errorf("%d for %s: %v, want where it leads", status, what, err)
			}
		}
	}
}
