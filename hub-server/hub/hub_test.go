package hub

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNewSaysWhatKeepsItFromStarting(t *testing.T) {
	inTheWay := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	brokenKeys := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(brokenKeys, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		environ []string
		want    string
	}{
		"home cannot be made":   {[]string{"HUB_HOME=" + filepath.Join(inTheWay, "hub")}, "HUB_HOME"},
		"keys cannot be read":   {[]string{"HUB_HOME=" + t.TempDir(), "HUB_KEYS_FILE=" + brokenKeys}, brokenKeys},
		"bus cannot be reached": {[]string{"HUB_HOME=" + t.TempDir(), "HUB_NATS_URL=nats://127.0.0.1:1"}, "HUB_NATS_URL: no NATS server answers there: start it"},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := LoadConfig(c.environ)
			if err != nil {
				t.Fatal(err)
			}
			h, err := New(t.Context(), Options{Config: config, Log: slog.New(slog.DiscardHandler), Version: "test"})
			if err == nil || h != nil {
				t.Fatalf("New returned %v, %v; want no hub and an error", h, err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not name %s", err, c.want)
			}
		})
	}
}

func TestEveryFaultOfTheConfigurationIsReportedByItsVariable(t *testing.T) {
	_, err := LoadConfig([]string{
		"HUB_HOME=" + t.TempDir(), "HUB_ADDR=nowhere", "HUB_LOG_LEVEL=loud", "HUB_INTERRUPT_AFTER=soon", "HUB_SOCKETS_PER_USER=many",
		"HUB_ORIGINS=hub.example", "HUB_STOP_TIMEOUT=-1s", "HUB_RETENTION_OUTBOX=5s", "HUB_REDIS_URL=redis://:hunter2@host:port", "HUB_NATS_URL=nats://ada:hunter2@host:port",
		"HUB_CARDS_LANGUAGE=fr",
	})
	if err != nil && strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a password is repeated: %v", err)
	}
	for _, name := range []string{
		"HUB_ADDR", "HUB_LOG_LEVEL", "HUB_INTERRUPT_AFTER", "HUB_SOCKETS_PER_USER", "HUB_ORIGINS", "HUB_STOP_TIMEOUT", "HUB_RETENTION_OUTBOX",
		"HUB_REDIS_URL", "HUB_NATS_URL", "HUB_CARDS_LANGUAGE",
	} {
		if err == nil || !strings.Contains(err.Error(), name+": ") {
			t.Errorf("%s is not named in: %v", name, err)
		}
	}
}

func TestRetentionThatCouldNotBeKeptToIsRefused(t *testing.T) {
	for name, environ := range map[string][]string{
		"HUB_RETENTION_RUNS":   {"HUB_RETENTION_RUNS=71h"},
		"HUB_RETENTION_BYTES":  {"HUB_RETENTION_BYTES=-1"},
		"HUB_RETENTION_OUTBOX": {"HUB_RETENTION_BYTES=1", "HUB_RETENTION_OUTBOX=0"},
	} {
		if _, err := LoadConfig(append(environ, "HUB_HOME="+t.TempDir())); err == nil || !strings.Contains(err.Error(), name+": ") {
			t.Errorf("%v: %v", environ, err)
		}
	}
	if _, err := LoadConfig([]string{"HUB_RETENTION_RUNS=72h", "HUB_RETENTION_BYTES=1", "HUB_HOME=" + t.TempDir()}); err != nil {
		t.Error(err)
	}
}

func TestSecretsOfTheConfigurationAreNeverPrinted(t *testing.T) {
	const secret = "canary-3141"
	config, err := LoadConfig([]string{
		"HUB_HOME=" + t.TempDir(), "HUB_DATABASE_URL=postgres://u:" + secret + "@db/x", "HUB_NATS_URL=nats://" + secret + "@bus", "HUB_METRICS_TOKEN=" + secret,
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range config.Effective() {
		if strings.Contains(value, secret) {
			t.Errorf("%s shows %q", name, value)
		}
	}
}
