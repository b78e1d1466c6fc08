package localapi_test

import (
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/switchyard-dev/switchyard/edge-server/internal/localapi"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// contract is what this test reads of api/edge.yaml.
type contract struct {
	Paths      map[string]any
	Components struct {
		Schemas map[string]struct{ Properties map[string]any }
	}
}

func readContract(t *testing.T) (c contract) {
	t.Helper()
	text, err := os.ReadFile("../../../api/edge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEveryPathOfTheContractIsServed(t *testing.T) {
	r := newRig(t)
	run := r.admit()
	paths := readContract(t).Paths
	if len(paths) < 5 {
		t.Fatalf("the contract has %d paths", len(paths))
	}
	for path := range paths {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.addr+strings.Replace(path, "{run_id}", string(run), 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-AgentHub-Edge-Token", string(token))
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		want := http.StatusOK
		if path == "/v1/events" {
			want = http.StatusUpgradeRequired
		}
		if answer.StatusCode != want {
			t.Errorf("%s: %s", path, answer.Status)
		}
	}
}

func TestSchemasOfTheContractHaveTheKeysThatAreSent(t *testing.T) {
	schemas := readContract(t).Components.Schemas
	for name, sent := range map[string]any{
		"EdgeRun": localapi.Run{}, "EdgeRunPage": localapi.Runs{}, "EdgePage": localapi.Page{}, "EdgeEventEnvelope": event.Envelope{},
		"EdgeHealth": localapi.Health{}, "EdgeProfiles": localapi.Profiles{}, "EdgeFaultyProfile": localapi.FaultyProfile{},
		"EdgeUplink": localapi.Uplink{}, "EdgeJournal": localapi.Journal{},
	} {
		var keys, promised []string
		for field := range fieldsOf(sent) {
			keys = append(keys, field)
		}
		for key := range schemas[name].Properties {
			promised = append(promised, key)
		}
		slices.Sort(keys)
		slices.Sort(promised)
		if !slices.Equal(keys, promised) {
			t.Errorf("%s: %v is sent, %v is promised", name, keys, promised)
		}
	}
}

// fieldsOf are the JSON keys of a struct.
func fieldsOf(v any) map[string]bool {
	keys := map[string]bool{}
	shape := reflect.TypeOf(v)
	for i := range shape.NumField() {
		name, _, _ := strings.Cut(shape.Field(i).Tag.Get("json"), ",")
		keys[name] = true
	}
	return keys
}
