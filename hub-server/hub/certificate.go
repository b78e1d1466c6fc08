package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// certificatePoll is how often the files of a certificate are looked at.
const certificatePoll = 10 * time.Second

// certificate is what the hub shows for itself over TLS. It follows its files, so that a renewal needs no restart. Safe for concurrent use.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	current           atomic.Pointer[tls.Certificate]
	stamp             string // of the files that current was read from; owned by run
}

// newCertificate reads the files for the first time. The error says what is wrong with which.
func newCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	if err := c.refresh(); err != nil {
		return nil, err
	}
	return c, nil
}

// config is for the listener, which adds HTTP/2 for whoever can, and HTTP/1.1 for WebSockets.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}

// expires is when the certificate in use does, in seconds since 1970.
func (c *certificate) expires() float64 { return float64(c.current.Load().Leaf.NotAfter.Unix()) }

// run follows the files until ctx ends. Without TLS (c is nil) there are none.
func (c *certificate) run(ctx context.Context) error {
	if c == nil {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(certificatePoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			// A renewal writes two files, and may be seen between them: what is in use stays until both fit.
			if err := c.refresh(); err != nil {
				c.log.Error("certificate cannot be read again; the one before stays in use", "error", err)
			}
		}
	}
}

// refresh reads the files if they are others than those that were read last.
func (c *certificate) refresh() error {
	stamp, err := c.look()
	if err != nil || stamp == c.stamp {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("HUB_TLS_CERT, HUB_TLS_KEY: %w", err)
	}
	c.current.Store(&pair)
	c.stamp = stamp
	c.log.Info("certificate is in use", "subject", pair.Leaf.Subject.String(), "names", pair.Leaf.DNSNames, "expires", pair.Leaf.NotAfter)
	return nil
}

// look tells the present files from others.
func (c *certificate) look() (stamp string, err error) {
	cert, err := os.Stat(c.certFile)
	if err != nil {
		return "", fmt.Errorf("HUB_TLS_CERT: %w", err)
	}
	key, err := os.Stat(c.keyFile)
	if err != nil {
		return "", fmt.Errorf("HUB_TLS_KEY: %w", err)
	}
	if key.Mode().Perm()&0o007 != 0 {
		return "", fmt.Errorf("HUB_TLS_KEY: everybody on this machine can use %s; chmod 0600 it", c.keyFile)
	}
	return fmt.Sprint(cert.ModTime().UnixNano(), cert.Size(), key.ModTime().UnixNano(), key.Size()), nil
}

// checkTLS says what is wrong with the settings by themselves.
func (c Config) checkTLS() error {
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return errors.New("HUB_TLS_CERT: set HUB_TLS_KEY with it, or neither")
	}
	return nil
}
