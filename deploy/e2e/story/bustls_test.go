package story

import (
	"crypto/tls"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
)

// Hubs whose bus has a certificate of a private authority, which they know by SSL_CERT_FILE: everything between them is encrypted, and a hub that
// does not know the authority tells the bus nothing.
func TestTwoHubsTellOneStoryOverAnEncryptedBus(t *testing.T) {
	t.Parallel()
	bus, root := startTLSNATS(t)
	p := bothHubsOn(t, "HUB_NATS_URL="+bus, "SSL_CERT_FILE="+root)
	p.edge = p.AddEdge("laptop", map[string]string{"worker": p.TestAgent("--events", "300", "--rate", "150", "--tools", "--truth", p.truth.Path)})
	p.open(p.Proxy.URL(), p.second)
	p.MoveOwner(p.second)
	run := p.beginAtSecond()
	p.complete(run)

	stranger := exec.CommandContext(t.Context(), p.Program("hub-server"), "--check")
	stranger.Env = append(os.Environ(), "HUB_HOME="+t.TempDir(), "HUB_NATS_URL="+bus)
	said, err := stranger.CombinedOutput()
	if err == nil || !strings.Contains(string(said), "HUB_NATS_URL") || !strings.Contains(string(said), "unknown authority") {
		t.Errorf("a hub that does not know the authority: %v\n%s", err, said)
	}
}

// startTLSNATS starts a server that speaks TLS alone, and returns its address and the file of the authority that has issued its certificate.
func startTLSNATS(t *testing.T) (address, root string) {
	t.Helper()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	root = filepath.Join(dir, "root.pem")
	authority, err := hubtest.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	if err := authority.WriteRoot(root); err != nil {
		t.Fatal(err)
	}
	if err := authority.Issue(cert, key); err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	ns := serveNATS(t, &server.Options{TLS: true, TLSTimeout: 10, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}})
	at, err := url.Parse(ns.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	return "tls://" + at.Host, root
}
