package natsbus

import (
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// between starts a NATS server as it stands between hubs, and returns its address.
func between(t *testing.T, options *server.Options) string {
	t.Helper()
	options.Host, options.Port, options.NoSigs, options.NoLog = "127.0.0.1", server.RANDOM_PORT, true, true
	ns, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() {
		ns.Shutdown()
		ns.WaitForShutdown()
	})
	if !ns.ReadyForConnections(readyTimeout) {
		t.Fatal("not ready")
	}
	return ns.Addr().String()
}

// A machine on which everything starts at once, or a long way, takes longer for a handshake than NATS waits by itself.
func TestASlowBusIsWaitedFor(t *testing.T) {
	t.Parallel()
	const slow = 3 * time.Second
	addr := between(t, &server.Options{})
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var relayed sync.WaitGroup
	relayed.Go(func() {
		hub, err := door.Accept()
		if err != nil {
			return
		}
		defer hub.Close()
		<-time.After(slow)
		bus, err := net.Dial("tcp", addr)
		if err != nil {
			t.Error(err)
			return
		}
		defer bus.Close()
		relayed.Go(func() { io.Copy(hub, bus); hub.Close() }) //nolint:errcheck // ends with the test
		io.Copy(bus, hub)                                     //nolint:errcheck // ends with the test
	})
	t.Cleanup(relayed.Wait)
	t.Cleanup(func() { door.Close() })
	bus, err := Dial(slog.New(slog.DiscardHandler), "nats://"+door.Addr().String(), "")
	if err != nil {
		t.Fatal(err)
	}
	bus.Close()
}

func TestTheBusBetweenHubsTakesAPassword(t *testing.T) {
	addr := between(t, &server.Options{Username: "hub", Password: "hunter2"})
	for address, works := range map[string]bool{"nats://hub:hunter2@" + addr: true, "nats://hub:hunter3@" + addr: false, "nats://" + addr: false} {
		bus, err := Dial(slog.New(slog.DiscardHandler), address, "")
		if (err == nil) != works || err != nil && strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: %v", address, err)
		}
		if err == nil {
			bus.Close()
		}
	}
}

func TestTheBusBetweenHubsTakesAFileOfCredentials(t *testing.T) {
	operator, account, user := must(nkeys.CreateOperator()), must(nkeys.CreateAccount()), must(nkeys.CreateUser())
	claims := jwt.NewAccountClaims(must(account.PublicKey()))
	issued := must(claims.Encode(operator))
	member := must(jwt.NewUserClaims(must(user.PublicKey())).Encode(account))
	resolver := &server.MemAccResolver{}
	if err := resolver.Store(must(account.PublicKey()), issued); err != nil {
		t.Fatal(err)
	}
	addr := between(t, &server.Options{TrustedKeys: []string{must(operator.PublicKey())}, AccountResolver: resolver})
	file := filepath.Join(t.TempDir(), "hub.creds")
	if err := os.WriteFile(file, must(jwt.FormatUserConfig(member, must(user.Seed()))), 0o600); err != nil {
		t.Fatal(err)
	}
	bus, err := Dial(slog.New(slog.DiscardHandler), "nats://"+addr, file)
	if err != nil {
		t.Fatal(err)
	}
	bus.Close()
	if _, err := Dial(slog.New(slog.DiscardHandler), "nats://"+addr, ""); err == nil {
		t.Error("let in without credentials")
	}
}

// must is for what cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestAnAddressOfNoBusIsRefusedWithoutRepeatingIt(t *testing.T) {
	for _, address := range []string{"nats://ada:hunter2@host:port", "http://ada:hunter2@host", "nats://a:hunter2@host, host2", "ada:hunter2"} {
		if err := CheckURL(address); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{"nats://host", "tls://ada:hunter2@host:4222", "nats://a:4222, nats://b:4222"} {
		if err := CheckURL(address); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
}
