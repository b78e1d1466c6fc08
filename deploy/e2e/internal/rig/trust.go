package rig

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
)

// trust is what makes TLS work in a rig. nil is a rig without.
type trust struct {
	authority       *hubtest.Authority
	cert, key, root string // files
	client          *http.Transport
}

func newTrust(t TB, dir string) *trust {
	t.Helper()
	authority, err := hubtest.NewAuthority()
	if err != nil {
		t.Fatalf("make an authority: %v", err)
	}
	w := &trust{
		authority: authority, cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem"), root: filepath.Join(dir, "root.pem"),
	}
	if err := authority.WriteRoot(w.root); err != nil {
		t.Fatalf("write root: %v", err)
	}
	if err := authority.Issue(w.cert, w.key); err != nil {
		t.Fatalf("issue a certificate: %v", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority.Root())
	w.client = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	t.Cleanup(w.client.CloseIdleConnections)
	return w
}

// transport is for requests of the rig's own devices; nil: the usual one.
func (w *trust) transport() http.RoundTripper {
	if w == nil {
		return nil
	}
	return w.client
}

func (r *Rig) scheme() string {
	if r.trust == nil {
		return "http://"
	}
	return "https://"
}

// Transport returns a new transport of a program that trusts the hub's certificate. The rig has TLS.
func (r *Rig) Transport() *http.Transport { return r.trust.client.Clone() }

// Roots is a file of the certificates that programs need to trust the hub's; "" without TLS.
func (r *Rig) Roots() string {
	if r.trust == nil {
		return ""
	}
	return r.trust.root
}

// RenewCertificate replaces the hub's certificate on its disk, as whoever issued it does in time.
func (r *Rig) RenewCertificate() {
	r.T.Helper()
	if err := r.trust.authority.Issue(r.trust.cert, r.trust.key); err != nil {
		r.T.Fatalf("renew the certificate: %v", err)
	}
}
