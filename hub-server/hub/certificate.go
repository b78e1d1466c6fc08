package hub

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
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
	digest            [sha256.Size]byte // of what current was read from; owned by run
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

// refresh takes what is in the files if it is other than what is in use.
func (c *certificate) refresh() error {
	cert, key, err := c.read()
	if err != nil {
		return err
	}
	digest := sha256.Sum256(slices.Concat(cert, key))
	if digest == c.digest {
		return nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("HUB_TLS_CERT, HUB_TLS_KEY: %w", err)
	}
	c.current.Store(&pair)
	c.digest = digest
	c.log.Info("certificate is in use", "subject", pair.Leaf.Subject.String(), "names", pair.Leaf.DNSNames, "expires", pair.Leaf.NotAfter)
	return nil
}

// read returns all that is in the files. They are small; their times and sizes do not always tell one pair from the next.
func (c *certificate) read() (cert, key []byte, err error) {
	if cert, err = os.ReadFile(c.certFile); err != nil {
		return nil, nil, fmt.Errorf("HUB_TLS_CERT: %w", err)
	}
	info, err := os.Stat(c.keyFile)
	if err != nil {
		return nil, nil, fmt.Errorf("HUB_TLS_KEY: %w", err)
	}
	if info.Mode().Perm()&0o007 != 0 {
		return nil, nil, fmt.Errorf("HUB_TLS_KEY: everybody on this machine can use %s; chmod 0600 it", c.keyFile)
	}
	if key, err = os.ReadFile(c.keyFile); err != nil {
		return nil, nil, fmt.Errorf("HUB_TLS_KEY: %w", err)
	}
	return cert, key, nil
}

// checkTLS says what is wrong with the settings by themselves.
func (c Config) checkTLS() error {
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return errors.New("HUB_TLS_CERT: set HUB_TLS_KEY with it, or neither")
	}
	return nil
}
