package uplink_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/wire"
)

// menu is what an edge can run, as a test says.
type menu struct {
	mu      sync.Mutex
	now     []wire.Profile
	changed chan struct{}
}

func (m *menu) Profiles() ([]wire.Profile, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.now), m.changed
}

func (m *menu) offer(names ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = []wire.Profile{}
	for _, name := range names {
		m.now = append(m.now, wire.Profile{Name: name, Runtime: "bridge"})
	}
	if m.changed != nil {
		close(m.changed)
	}
	m.changed = make(chan struct{})
}

func names(profiles []wire.Profile) string {
	var all []string
	for _, p := range profiles {
		all = append(all, p.Name)
	}
	return strings.Join(all, " ")
}

func TestHubHearsOfChangedProfilesAtOnceAndAfterACut(t *testing.T) {
	h := newHub(t)
	e := connect(t, h, credential)
	h.wait("the greeting", func() bool { return slices.Equal(h.offered, []string{"parrot"}) })
	h.menu.offer("crow", "parrot")
	h.wait("the new agent", func() bool { return slices.Equal(h.offered, []string{"parrot", "crow parrot"}) })
	h.menu.offer()
	h.wait("no agent", func() bool { return slices.Equal(h.offered, []string{"parrot", "crow parrot", ""}) })
	h.menu.offer("crow")
	h.wait("an agent", func() bool { return h.offered[len(h.offered)-1] == "crow" })
	h.change(func() { h.cut() })
	h.wait("the next greeting", func() bool { return h.tunnels == 2 && len(h.offered) == 5 && h.offered[4] == "crow" })
	e.append(t, state("a"))
	h.wait("the row", func() bool { return len(h.rows) == 1 })
}
