package story

import (
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
)

// finds waits until a device finds so many messages.
func finds(r *rig.Rig, d *rig.Device, text string, want int) {
	r.T.Helper()
	r.Eventually("search for "+text, func() bool {
		found := 0
		for _, err := range d.Search(r.T.Context(), text, "") {
			if err != nil {
				r.T.Fatalf("search: %v", err)
			}
			found++
		}
		return found == want
	})
}

// What was said is found soon after, when the hub was killed before it was indexed, and after a restore, whose backup knows nothing of the index.
func TestWhatWasSaidIsFoundWhateverHappensToTheHub(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Env: []string{"HUB_REQUESTS_PER_MINUTE=1000000"}}) // it is asked again and again
	ada := r.Owner()
	session := ada.Group("demo")
	for _, text := range []string{"the migration failed", "数据库迁移失败了", "nothing else"} {
		ada.Send(session, text)
	}
	r.KillHub()
	r.StartHub()
	finds(r, ada, "MIGRATION failed", 1)
	finds(r, ada, "迁移", 1)
	bob, _ := r.Invite("bob")
	finds(r, bob, "migration", 0)

	file := filepath.Join(r.Dir, "backup")
	r.HubCommand("backup", file)
	r.KillHub()
	s := &scene{Rig: r, t: t}
	s.loseStore()
	r.HubCommand("restore", file)
	r.StartHub()
	finds(r, ada, "失败", 1)
	ada.Send(session, "another migration")
	finds(r, ada, "migration", 2)
}
