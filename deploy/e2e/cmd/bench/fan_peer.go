package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/fanload"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/hubtest"
)

// The peer is Centrifugo: the best known server that does nothing but this. It is installed by name into a cache of the benchmark; no module of
// ours knows it.
const (
	peerModule  = "github.com/centrifugal/centrifugo/v6"
	peerVersion = "v6.9.1"
)

// Contestants that are Centrifugo, each with history and recovery, and with what it keeps them in.
var (
	inMemory            = contestant{name: "Centrifugo in memory", peer: true, start: peerWith(nil)}
	inRedis             = contestant{name: "Centrifugo with Redis", peer: true, start: peerWith(withRedis)}
	inPostgres          = contestant{name: "Centrifugo with PostgreSQL", peer: true, start: peerWith(withPostgres(false))}
	inMemoryEncrypted   = contestant{name: "Centrifugo in memory over TLS", peer: true, start: peerWith(withTLS)}
	inNotifyingPostgres = contestant{name: "Centrifugo with PostgreSQL and its LISTEN/NOTIFY", peer: true, start: peerWith(withPostgres(true))}
)

// object is a piece of Centrifugo's configuration.
type object map[string]any

// peerWith starts a Centrifugo whose configuration engine completes. Nobody has to log in: that is less work for it than ours has.
func peerWith(engine func(t *stage, config object, plan *fanload.Plan)) func(bench, *stage, *fanload.Plan) {
	return func(_ bench, t *stage, plan *fanload.Plan) {
		program := installPeer(t)
		addr := rig.FreeAddr(t)
		host, port, err := net.SplitHostPort(addr)
		t.must(err)
		config := object{
			"http_server": object{"address": host, "port": port}, "http_api": object{"insecure": true}, "prometheus": object{"enabled": true},
			"client":  object{"insecure": true, "allowed_origins": []string{"*"}, "recovery_max_publication_limit": historySize},
			"channel": object{"without_namespace": object{"history_size": historySize, "history_ttl": "10m", "force_recovery": true}},
			"log":     object{"level": "error"},
		}
		if engine != nil {
			engine(t, config, plan)
		}
		text, err := json.Marshal(config)
		t.must(err)
		file := filepath.Join(t.TempDir(), "config.json")
		t.must(os.WriteFile(file, text, 0o600))
		p := rig.Start(t, "centrifugo", nil, program, "--config", file)
		plan.Dialect, plan.Server, plan.PID = fanload.Centrifugo, "http://"+addr, p.PID()
		if plan.Roots != "" {
			plan.Server = "https://" + addr
		}
		t.untilAnswers(p, plan)
	}
}

// historySize is how many messages the peer keeps for those that come back.
const historySize = 2000

// installPeer returns the program, which it builds at the first call.
func installPeer(t *stage) string {
	cache, err := os.UserCacheDir()
	t.must(err)
	dir := filepath.Join(cache, "switchyard-bench", peerVersion)
	program := filepath.Join(dir, "centrifugo")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	t.Logf("bench: installing %s@%s", peerModule, peerVersion)
	install := exec.CommandContext(t.ctx, "go", "install", peerModule+"@"+peerVersion)
	install.Env = append(os.Environ(), "GOBIN="+dir, "GOWORK=off")
	install.Dir = t.TempDir()
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("install %s: %v\n%s", peerModule, err, out)
	}
	return program
}

// untilAnswers waits until the server of a plan lets somebody connect.
func (t *stage) untilAnswers(p *rig.Process, plan *fanload.Plan) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(rig.Patience); ; {
		if plan.Answers(t.ctx) {
			return
		}
		select {
		case <-tick.C:
		case <-p.Ended():
			t.Fatalf("the server ended:\n%s%s", p.Out(), p.Log())
		case <-limit:
			t.Fatalf("the server does not answer at %s", plan.Server)
		}
	}
}

// withTLS gives the server a certificate of an authority of its own.
func withTLS(t *stage, config object, plan *fanload.Plan) {
	authority, err := hubtest.NewAuthority()
	t.must(err)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	plan.Roots = filepath.Join(dir, "root.pem")
	t.must(errors.Join(authority.WriteRoot(plan.Roots), authority.Issue(cert, key)))
	server, ok := config["http_server"].(object)
	if !ok {
		t.Fatalf("the configuration has no http_server")
	}
	server["tls"] = object{"enabled": true, "cert_pem": cert, "key_pem": key}
}

func withRedis(t *stage, config object, _ *fanload.Plan) {
	addr := rig.FreeAddr(t)
	stop, err := hubtest.Redis(addr)
	t.must(err)
	t.Cleanup(func() { t.must(stop()) })
	config["engine"] = object{"type": "redis", "redis": object{"address": fmt.Sprintf("redis://%s", addr)}}
}

func withPostgres(notify bool) func(*stage, object, *fanload.Plan) {
	return func(t *stage, config object, _ *fanload.Plan) {
		dsn, stop, err := hubtest.PostgresServer()
		t.must(err)
		t.Cleanup(func() { t.must(stop()) })
		config["broker"] = object{"enabled": true, "type": "postgres", "postgres": object{"dsn": dsn, "use_notify": notify}}
	}
}
