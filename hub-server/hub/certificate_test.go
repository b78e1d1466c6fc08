package hub

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
)

// issue writes a certificate and its key into a folder of the test and returns the paths.
func issue(t *testing.T) (cert, key string) {
	t.Helper()
	_, cert, key = issueBy(t)
	return cert, key
}

// issueBy also returns who vouches for the certificate.
func issueBy(t *testing.T) (authority *hubtest.Authority, cert, key string) {
	t.Helper()
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	authority, err := hubtest.NewAuthority()
	if err == nil {
		err = authority.Issue(cert, key)
	}
	if err != nil {
		t.Fatal(err)
	}
	return authority, cert, key
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func TestARenewedCertificateIsTakenOnceItsKeyIsThereToo(t *testing.T) {
	cert, key := issue(t)
	renewed, renewedKey := issue(t)
	for _, file := range []string{cert, key, renewed, renewedKey} { // as if all had been written within one tick of the disk's clock
		if err := os.Chtimes(file, time.Time{}, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		c, err := newCertificate(cert, key, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.run(ctx) }()
		first := c.current.Load()
		move(t, renewed, cert)
		time.Sleep(2 * certificatePoll)
		if c.current.Load() != first {
			t.Error("a certificate was taken without its key")
		}
		move(t, renewedKey, key)
		time.Sleep(2 * certificatePoll)
		if c.current.Load() == first {
			t.Error("the renewed certificate was not taken")
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestAHubThatCannotShowItsCertificateDoesNotStart(t *testing.T) {
	cert, key := issue(t)
	_, otherKey := issue(t)
	garbage := filepath.Join(t.TempDir(), "garbage.pem")
	if err := os.WriteFile(garbage, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	open, openKey := issue(t)
	if err := os.Chmod(openKey, 0o604); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ cert, key, want string }{
		"no certificate":          {garbage + "x", key, "HUB_TLS_CERT"},
		"no key":                  {cert, garbage + "x", "HUB_TLS_KEY"},
		"garbage":                 {garbage, key, "HUB_TLS_CERT"},
		"another's key":           {cert, otherKey, "does not match"},
		"a key for everybody":     {open, openKey, "chmod 0600"},
		"a certificate alone":     {cert, "", "HUB_TLS_KEY"},
		"a key alone":             {"", key, "HUB_TLS_KEY"},
		"nothing (then it works)": {"", "", ""},
		"both (then it works)":    {cert, key, ""},
	} {
		config, err := LoadConfig([]string{"HUB_HOME=" + t.TempDir(), "HUB_TLS_CERT=" + c.cert, "HUB_TLS_KEY=" + c.key})
		if err == nil {
			var h *Hub
			if h, err = New(t.Context(), Options{Config: config, Log: slog.New(slog.DiscardHandler), Version: "test"}); err == nil {
				err = h.Close()
			}
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
	}
}
