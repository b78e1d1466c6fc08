package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
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
	inMemory            = contestant{"Centrifugo in memory", peerWith(nil)}
	inRedis             = contestant{"Centrifugo with Redis", peerWith(withRedis)}
	inPostgres          = contestant{"Centrifugo with PostgreSQL", peerWith(withPostgres(false))}
	inNotifyingPostgres = contestant{"Centrifugo with PostgreSQL and its LISTEN/NOTIFY", peerWith(withPostgres(true))}
)

// object is a piece of Centrifugo's configuration.
type object map[string]any

// peerWith starts a Centrifugo whose configuration engine completes. Nobody has to log in: that is less work for it than ours has.
func peerWith(engine func(t *stage, config object)) func(bench, *stage, *fanload.Plan) {
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
			engine(t, config)
		}
		text, err := json.Marshal(config)
		t.must(err)
		file := filepath.Join(t.TempDir(), "config.json")
		t.must(os.WriteFile(file, text, 0o600))
		p := rig.Start(t, "centrifugo", nil, program, "--config", file)
		plan.Dialect, plan.Server, plan.PID = fanload.Centrifugo, "http://"+addr, p.PID()
		t.untilAnswers(p, plan.Server+"/metrics")
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

// untilAnswers waits until a server answers.
func (t *stage) untilAnswers(p *rig.Process, url string) {
	asking := http.Client{Timeout: time.Second}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(rig.Patience); ; {
		req, err := http.NewRequestWithContext(t.ctx, http.MethodGet, url, nil)
		t.must(err)
		if resp, err := asking.Do(req); err == nil {
			t.must(resp.Body.Close())
			return
		}
		select {
		case <-tick.C:
		case <-p.Ended():
			t.Fatalf("the server ended:\n%s%s", p.Out(), p.Log())
		case <-limit:
			t.Fatalf("the server does not answer at %s", url)
		}
	}
}

func withRedis(t *stage, config object) {
	addr := rig.FreeAddr(t)
	stop, err := hubtest.Redis(addr)
	t.must(err)
	t.Cleanup(func() { t.must(stop()) })
	config["engine"] = object{"type": "redis", "redis": object{"address": fmt.Sprintf("redis://%s", addr)}}
}

func withPostgres(notify bool) func(*stage, object) {
	return func(t *stage, config object) {
		dsn, stop, err := hubtest.PostgresServer()
		t.must(err)
		t.Cleanup(func() { t.must(stop()) })
		config["broker"] = object{"enabled": true, "type": "postgres", "postgres": object{"dsn": dsn, "use_notify": notify}}
	}
}
