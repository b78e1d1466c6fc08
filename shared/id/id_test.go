package id_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// kind is one kind of id with its types erased.
type kind struct {
	name  string
	fresh func() string
	parse func(string) (string, error)
}

func of[T ~string](name string, fresh func() T, parse func(string) (T, error)) kind {
	return kind{name, func() string { return string(fresh()) }, func(s string) (string, error) {
		v, err := parse(s)
		return string(v), err
	}}
}

func kinds() []kind {
	return []kind{
		of("user", id.NewUser, id.ParseUser), of("dev", id.NewDevice, id.ParseDevice), of("edge", id.NewEdge, id.ParseEdge),
		of("agent", id.NewAgent, id.ParseAgent), of("sess", id.NewSession, id.ParseSession), of("msg", id.NewMessage, id.ParseMessage),
		of("art", id.NewArtifact, id.ParseArtifact), of("att", id.NewAttachment, id.ParseAttachment), of("inv", id.NewInvitation, id.ParseInvitation), of("ntf", id.NewNotification, id.ParseNotification),
		of("conn", id.NewConnection, id.ParseConnection), of("dlv", id.NewDelivery, id.ParseDelivery),
		of("run", id.NewRun, id.ParseRun), of("evt", id.NewEvent, id.ParseEvent), of("req", id.NewRequest, id.ParseRequest),
		of("steer", id.NewSteer, id.ParseSteer), of("tr", id.NewTrace, id.ParseTrace),
	}
}

func TestFreshIDsHaveTheirShapeAndParse(t *testing.T) {
	hex := map[string]string{"run": "16", "evt": "20", "req": "16", "steer": "16", "tr": "24"}
	for _, k := range kinds() {
		shape := `[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`
		if digits, ok := hex[k.name]; ok {
			shape = `[0-9a-f]{` + digits + `}`
		}
		a, b := k.fresh(), k.fresh()
		if !regexp.MustCompile(`^` + k.name + `_` + shape + `$`).MatchString(a) {
			t.Errorf("%s: %q", k.name, a)
		}
		if a == b {
			t.Errorf("%s: %q twice", k.name, a)
		}
		if got, err := k.parse(a); err != nil || got != a {
			t.Errorf("%s: %q became %q, %v", k.name, a, got, err)
		}
	}
}

func TestAnIDOfOneKindIsNoIDOfAnother(t *testing.T) {
	for _, k := range kinds() {
		for _, other := range kinds() {
			if got, err := k.parse(other.fresh()); (err == nil) != (k.name == other.name) {
				t.Errorf("%s accepted %q", k.name, got)
			}
		}
	}
}

func TestWhatIsNoIDIsRefused(t *testing.T) {
	for _, k := range kinds() {
		good := k.fresh()
		for _, bad := range []string{
			"", k.name, k.name + "_", good[:len(good)-1], good + "0", " " + good, good + "\n", strings.ToUpper(good), strings.TrimPrefix(good, k.name+"_"),
			good[:len(good)-1] + "g", good[:len(good)-1] + ".", good[:len(good)-1] + "*", k.name + "_{" + good[len(k.name)+2:], strings.Repeat(good, 1000),
		} {
			if got, err := k.parse(bad); !errors.Is(err, id.ErrMalformed) || got != "" {
				t.Errorf("%s accepted %.60q: %v", k.name, bad, err)
			}
		}
	}
}

// FuzzParse: what parses is safe to put into a subject, a path or a log line, and only one kind accepts it.
func FuzzParse(f *testing.F) {
	for _, k := range kinds() {
		f.Add(k.fresh())
	}
	f.Add("user_{0191e4a0-0000-7000-8000-000000000000}")
	f.Add("run_0123456789ABCDEF")
	f.Fuzz(func(t *testing.T, s string) {
		accepted := 0
		for _, k := range kinds() {
			got, err := k.parse(s)
			if err != nil {
				continue
			}
			accepted++
			if got != s || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
				t.Fatalf("%s accepted %q as %q", k.name, s, got)
			}
		}
		if accepted > 1 {
			t.Fatalf("%d kinds accept %q", accepted, s)
		}
	})
}
