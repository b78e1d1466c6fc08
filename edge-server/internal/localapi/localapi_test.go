package localapi_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/localapi"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token localapi.Token = "0123456789abcdef0123456789abcdef"

func serve(t *testing.T, h localapi.Health) (addr string) {
	t.Helper()
	s, err := localapi.Listen(t.Context(), localapi.Options{
		Addr: "127.0.0.1:0", Token: token, Health: func() localapi.Health { return h },
		Metrics: telemetry.NewRegistry("edge"), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	running := supervise.NewGroup(context.Background())
	running.Go(s.Run)
	t.Cleanup(func() {
		running.Cancel()
		if err := running.Wait(); err != nil {
			t.Error(err)
		}
	})
	return s.Addr()
}

func health(s localapi.Condition) localapi.Health {
	return localapi.Health{
		Status: s, Version: "v1", EdgeID: "edge_1", ActiveRuns: 2, Uplink: localapi.Uplink{State: "refused", Code: fault.EdgeRevoked},
		Journal: localapi.Journal{Head: 9, Committed: 7},
		Profiles: localapi.Profiles{
			Offered: []string{"scout"}, Faulty: []localapi.FaultyProfile{{File: "/p/a.yaml", Problems: []string{"line 1: error: no"}, Kept: true}},
		},
	}
}

func TestHealthShowsEverythingToTheOwnerAndItsStatusToOthers(t *testing.T) {
	addr := serve(t, health(localapi.OK))
	got, err := localapi.Ask(t.Context(), addr, token)
	if err != nil || !reflect.DeepEqual(got, health(localapi.OK)) || !got.Ready() {
		t.Errorf("owner sees %+v, %v", got, err)
	}
	got, err = localapi.Ask(t.Context(), addr, "wrong")
	if err != nil || !reflect.DeepEqual(got, localapi.Health{Status: localapi.OK}) {
		t.Errorf("others see %+v, %v", got, err)
	}
}

func TestLocalAPIAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		path, host, bearer string
		status             localapi.Condition
		want               int
	}{
		"health":                {"/v1/health", "", "", localapi.OK, http.StatusOK},
		"health of an idle one": {"/v1/health", "", "", localapi.Unready, http.StatusServiceUnavailable},
		"localhost":             {"/v1/health", "localhost:3210", "", localapi.OK, http.StatusOK},
		"a rebound name":        {"/v1/health", "evil.example", string(token), localapi.OK, http.StatusForbidden},
		"metrics":               {"/metrics", "", string(token), localapi.OK, http.StatusOK},
		"metrics without token": {"/metrics", "", "", localapi.OK, http.StatusUnauthorized},
		"unknown":               {"/v1/nothing", "", "", localapi.OK, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+serve(t, health(tt.status))+tt.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = tt.host
			r.Header.Set("Authorization", "Bearer "+tt.bearer)
			client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			answer, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != tt.want {
				t.Errorf("got %s, want %d", answer.Status, tt.want)
			}
		})
	}
}

func TestEdgeListensOnLoopbackOnly(t *testing.T) {
	for addr, ok := range map[string]bool{
		"127.0.0.1:0": true, "[::1]:80": true, "localhost:80": true,
		"0.0.0.0:80": false, ":80": false, "10.0.0.1:80": false, "example.org:80": false, "127.0.0.1": false,
	} {
		if err := localapi.CheckAddr(addr); (err == nil) != ok {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

func TestTokenIsMadeOnceAndReadableByItsOwnerOnly(t *testing.T) {
	home := t.TempDir()
	if _, err := localapi.ReadToken(home); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before the first start: %v", err)
	}
	first, err := localapi.LoadToken(home)
	if err != nil || len(first) < 32 {
		t.Fatalf("token is %q, %v", first, err)
	}
	if again, err := localapi.LoadToken(home); again != first || err != nil {
		t.Errorf("second start: %v, another token: %v", err, again != first)
	}
	info, err := os.Stat(filepath.Join(home, "local.token"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file is %v, %v", info, err)
	}
}
