package runtime_test

import (
	"fmt"
	"log/slog"
	"reflect"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

func offering(profiles ...profile.Profile) *runtime.Executor {
	return runtime.NewExecutor(runtime.Options{
		Profiles: profile.Of(profiles...), Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewRegistry("edge"),
	})
}

func TestExecutorOffersWhatTheLibraryHolds(t *testing.T) {
	e := offering(profile.Profile{Name: "b", Runtime: profile.Events}, profile.Profile{Name: "a", Runtime: profile.Bridge, Description: "d", MaxRuns: 3, Controls: []string{"steer"}})
	got, changed := e.Profiles()
	if len(got) != 2 || !reflect.DeepEqual(got[0], wire.Profile{Name: "a", Runtime: "bridge", Description: "d", Controls: []string{"steer"}}) || got[1].Name != "b" || changed == nil {
		t.Errorf("offered are %+v", got)
	}
	for name, want := range map[string]string{"a": "3 true", "b": "0 true", "c": "0 false"} {
		if most, offered := e.Limit(name); fmt.Sprint(most, offered) != want {
			t.Errorf("limit of %s is %d, %t", name, most, offered)
		}
	}
}

func TestExecutorOffersNoMoreThanAHubTakes(t *testing.T) {
	var many []profile.Profile
	for i := range wire.MaxProfiles + 5 {
		many = append(many, profile.Profile{Name: profile.Name(fmt.Sprint("p", i)), Runtime: profile.Bridge})
	}
	if got, _ := offering(many...).Profiles(); len(got) != wire.MaxProfiles {
		t.Errorf("%d are offered", len(got))
	}
	if got, _ := offering().Profiles(); got == nil || len(got) != 0 {
		t.Errorf("without profiles: %#v", got)
	}
}
