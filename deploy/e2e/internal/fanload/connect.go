package fanload

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"time"
)

// connect connects to a server, over TLS if its base URL says so: to one that the roots of this process vouch for.
func connect(ctx context.Context, server string) (net.Conn, error) {
	plain := &net.Dialer{Timeout: openWithin}
	if !strings.HasPrefix(server, encrypted) {
		return plain.DialContext(ctx, "tcp", hostOf(server))
	}
	secure := tls.Dialer{NetDialer: plain, Config: &tls.Config{MinVersion: tls.VersionTLS13}}
	return secure.DialContext(ctx, "tcp", hostOf(server))
}

const encrypted = "https://"

// hostOf is the host:port of a base URL.
func hostOf(server string) string {
	_, host, _ := strings.Cut(server, "://")
	return host
}

// Answers says whether the server takes connections.
func (p Plan) Answers(ctx context.Context) bool {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", hostOf(p.Server))
	return err == nil && conn.Close() == nil
}
