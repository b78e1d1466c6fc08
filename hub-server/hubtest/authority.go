package hubtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// Authority issues certificates for this machine's loopback address that nobody else believes in.
type Authority struct {
	root *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes one, good for an hour.
func NewAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	template := &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	root, err := sign(template, nil, key, key)
	if err != nil {
		return nil, err
	}
	return &Authority{root: root, key: key}, nil
}

// Root is what a client has to trust.
func (a *Authority) Root() *x509.Certificate { return a.root }

// WriteRoot writes it as PEM.
func (a *Authority) WriteRoot(file string) error { return writePEM(file, "CERTIFICATE", a.root.Raw) }

// Issue writes a new certificate for 127.0.0.1 and its key as PEM.
func (a *Authority) Issue(certFile, keyFile string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make key: %w", err)
	}
	template := &x509.Certificate{
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	leaf, err := sign(template, a.root, key, a.key)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode key: %w", err)
	}
	if err := writePEM(certFile, "CERTIFICATE", leaf.Raw); err != nil {
		return err
	}
	return writePEM(keyFile, "PRIVATE KEY", der)
}

// sign makes a certificate of template for the holder of key; its own parent without one.
func sign(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, fmt.Errorf("make serial: %w", err)
	}
	template.SerialNumber, template.Subject = serial, pkix.Name{CommonName: "switchyard test"}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return x509.ParseCertificate(der)
}

func writePEM(file, kind string, der []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
