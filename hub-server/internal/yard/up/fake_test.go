package up

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/testhub"
)

// TestMain lets this program stand in for the two servers: it is called by their names then.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "hub-server":
		os.Exit(fakeHub())
	case "edge-server":
		os.Exit(fakeEdge())
	default:
		goleak.VerifyTestMain(m)
	}
}

const fakeEdgeID = "edge_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55"

// fakeHub serves at HUB_ADDR. It makes the token of the first user until there is one, and knows one password for ever.
func fakeHub() int {
	fmt.Fprintln(os.Stderr, `{"msg":"hub starts"}`)
	home := os.Getenv("HUB_HOME")
	if os.Getenv("FAKE_HUB") == "dies" {
		fmt.Fprintln(os.Stderr, "last words")
		return 3
	}
	must(os.MkdirAll(home, 0o700))
	token := filepath.Join(home, "bootstrap.token")
	if _, err := os.Stat(filepath.Join(home, "password")); err != nil {
		must(os.WriteFile(token, []byte("first\n"), 0o600))
	}
	hub := testhub.Bare()
	hub.Edges[0].ID = fakeEdgeID
	inner := hub.Handler()
	listener, err := net.Listen("tcp", os.Getenv("HUB_ADDR"))
	must(err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/client/auth/bootstrap", "/client/auth/login":
			var in client.BootstrapInput
			must(json.NewDecoder(r.Body).Decode(&in))
			enter(w, home, token, in, r.URL.Path == "/client/auth/bootstrap")
		case "/client/edges/" + fakeEdgeID:
			hub.Change(func() { hub.Edges[0].State = edgeState(filepath.Join(home, "..", "edge", "online")) })
			inner.ServeHTTP(w, r)
		default:
			inner.ServeHTTP(w, r)
		}
	})}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { server.Close() })
	server.Serve(listener)
	fmt.Fprintln(os.Stderr, `{"msg":"hub stopped"}`)
	note("hub")
	return 0
}

func edgeState(online string) client.EdgeState {
	if _, err := os.Stat(online); err != nil {
		return client.EdgeStateOffline
	}
	return client.EdgeStateOnline
}

// enter takes the first password that comes with the token, and that one only from then on.
func enter(w http.ResponseWriter, home, token string, in client.BootstrapInput, first bool) {
	file := filepath.Join(home, "password")
	if first && in.Token == "first" {
		must(os.WriteFile(file, []byte(in.Password), 0o600))
		must(os.Remove(token))
	}
	if kept, err := os.ReadFile(file); err != nil || string(kept) != in.Password {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"code":"invalid_credentials","detail":"Wrong name or password.","title":"","type":"","status":401,"traceId":""}`)
		return
	}
	json.NewEncoder(w).Encode(client.Tokens{AccessToken: "access x", RefreshToken: "refresh x", ExpiresIn: 900, User: client.User{Username: in.Username}})
}

// fakeEdge enrols, or runs until it is told to stop.
func fakeEdge() int {
	home := os.Getenv("EDGE_HOME")
	if len(os.Args) > 1 && os.Args[1] == "enrol" {
		if len(os.Args) != 6 || strings.Join(os.Args[4:], " ") != "--token enrolment-token" {
			fmt.Fprintln(os.Stderr, "unexpected", os.Args)
			return 1
		}
		must(os.MkdirAll(home, 0o700))
		must(os.WriteFile(filepath.Join(home, "edge.json"), []byte(`{"edge_id":"`+fakeEdgeID+`"}`), 0o600))
		return 0
	}
	fmt.Fprintln(os.Stderr, `{"msg":"edge of`, os.Getenv("EDGE_HUB_URL"), `"}`)
	how := os.Getenv("FAKE_EDGE")
	if how == "dies" {
		return 3
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	online := filepath.Join(home, "online")
	must(os.WriteFile(online, nil, 0o600))
	defer os.Remove(online)
	if how == "dies later" {
		time.Sleep(300 * time.Millisecond)
		fmt.Fprintln(os.Stderr, "later words")
		return 3
	}
	<-ctx.Done()
	if how == "lingers" {
		select {}
	}
	note("edge")
	return 0
}

// note appends who has stopped to a file, so that a test sees the order.
func note(who string) {
	f, err := os.OpenFile(os.Getenv("FAKE_STOPS"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(err)
	fmt.Fprintln(f, who)
	must(f.Close())
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
