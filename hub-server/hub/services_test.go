package hub

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/testredis"
)

func TestACheckAsksWhatTheConfigurationNames(t *testing.T) {
	redis := testredis.Start(t)
	config := Config{RedisURL: Secret(redis.URL())}
	if err := Reach(t.Context(), config); err != nil {
		t.Errorf("with Redis: %v", err)
	}
	if shown := config.Effective()["HUB_REDIS_URL"]; shown != "***" {
		t.Errorf("the address of Redis is shown as %q", shown)
	}
	redis.Kill()
	config.NATSURL = "nats://hub:hunter2@127.0.0.1:1"
	err := Reach(t.Context(), config)
	if err == nil {
		t.Fatal("nothing answers, and the check is content")
	}
	for _, want := range []string{"HUB_REDIS_URL: Redis does not answer", "HUB_NATS_URL: no NATS server answers"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	for _, secret := range []string{redis.Password(), "hunter2"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("a password is repeated: %v", err)
		}
	}
}
