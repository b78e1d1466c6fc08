package typescript

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/npm"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/card"
)

// newTalking is a system with an agent that plays the scenarios of the card protocol.
func newTalking(t *testing.T) *rig.Rig {
	t.Helper()
	r := rig.New(t, rig.Options{})
	profile := rig.Profile("events", r.Program("testagent"), "--scenes", "--pace", "20ms")
	r.AddEdge("laptop", map[string]string{"worker": profile + "permission: true\nkill_grace_secs: 1\n"})
	return r
}

// A program in Node follows a conversation's cards over a connection that is cut while a question waits: it is told once, and answered on the next
// connection. Its forest at the end is that of the Go SDK, to the byte.
func TestCardsInNodeAreThoseOfTheGoSDK(t *testing.T) {
	t.Parallel()
	outside := npm.Pack(t).Outside
	r := newTalking(t)
	device := r.Device("node", r.Proxy.URL())
	session := r.Device("go", r.HubURL()).Group("demo", "worker")
	lines := startIn(t, outside, "cards.mjs", device, session)
	lines.until("the question", func(p progress) bool { return p.Asked != "" })
	r.Proxy.Cut()
	lines.until("another connection", func(p progress) bool { return p.Connections == 2 })
	end := lines.until("the end", func(p progress) bool { return p.Digest != "" })
	if end.Told != 1 || !slices.Equal(end.Answers, []card.ReplyDecision{card.Approved}) || !strings.Contains(end.Words, "是") {
		t.Errorf("the program has seen %+v", end)
	}
	if want := digestAt(t, r.Device("another", r.HubURL()), session, end.Seq); end.Digest != want {
		t.Errorf("the forest is %s in Node, %s in Go", end.Digest, want)
	}
}

// digestAt is the digest of a conversation's cards in the Go SDK, up to a number of the trace.
func digestAt(t *testing.T, device *rig.Device, session string, last card.Seq) string {
	t.Helper()
	feed := device.Cards(client.CardOptions{Session: session})
	for _, err := range feed.Follow(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if feed.Forest().Last() >= last {
			break
		}
	}
	digest, err := feed.Forest().Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func TestTheReadmesExampleOfCardsWorks(t *testing.T) {
	t.Parallel()
	outside := npm.Pack(t).Outside
	r := newTalking(t)
	agent := r.Device("writer", r.HubURL()).AgentID("worker")
	if err := os.WriteFile(filepath.Join(outside, "cards-example.mjs"), []byte(example(t, "Cards")), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"HUB=" + r.HubURL(), "LOGIN=" + rig.Username, "PASSWORD=" + rig.Password, "AGENT=" + agent}
	p := launch(t, outside, nil, env, "node", "cards-example.mjs")
	if !p.lines.Scan() || p.lines.Text() != "Hello World!" {
		t.Fatalf("the example printed %q", p.lines.Text())
	}
}
