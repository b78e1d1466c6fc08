package story

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/browser"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// seen is one event as a page or a program without any code of ours sees it.
type seen struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data string `json:"data"`
}

// cuts is how often the network fails under both clients; each costs a browser the second that `retry:` asks of it.
const cuts = 5

// A browser's own EventSource and a shell with curl follow one run while the network fails again and again. Both end by themselves with
// exactly what is stored.
func TestAnOrdinaryEventSourceAndCurlResumeByThemselves(t *testing.T) {
	t.Parallel()
	page := browser.Open(t) // before anything else: without a browser there is nothing to test
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("no curl here: scripts/test-services.sh installs it")
	}
	work, tell := untilTold(t)
	s := newScene(t, "--events", forever, "--rate", "100", "--tools", "--while", work)
	run := s.begin()
	page.Navigate(s.Proxy.URL() + "/healthz")
	s.listen(page, run)
	followed := make(chan []seen, 1)
	go func() { followed <- s.curl(curl, run) }()

	for n := range cuts {
		have := browser.Evaluate[int](page, `received.length`) + 40
		s.Eventually(fmt.Sprintf("%d events in the browser", have), func() bool {
			return browser.Evaluate[int](page, `received.length`) >= have
		})
		s.Proxy.Cut()
		t.Logf("cut %d after %d events", n+1, have)
	}
	tell()
	s.Eventually("the browser stops by itself", func() bool {
		return browser.Evaluate[bool](page, `source.readyState === EventSource.CLOSED`)
	})
	if connections := browser.Evaluate[int](page, `opened`); connections <= cuts {
		t.Errorf("the browser connected %d times through %d cuts", connections, cuts)
	}
	log := s.settle(run, client.RunStateCompleted)
	for name, got := range map[string][]seen{"browser": received(page), "curl": <-followed} {
		s.sameAsStored(name, got, log)
	}
}

// listen logs the page in and lets it follow the run, as any page would.
func (s *scene) listen(page *browser.Page, run id.Run) {
	s.t.Helper()
	login, err := json.Marshal(client.LoginInput{
		Username: rig.Username, Password: rig.Password, Device: client.DeviceInput{Name: "browser", Type: client.DeviceTypeWeb},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	status := browser.Evaluate[int](page, fmt.Sprintf(`fetch('/client/auth/login',
		{method: 'POST', headers: {'Content-Type': 'application/json'}, body: %q}).then(answer => answer.status)`, login))
	if status != http.StatusOK {
		s.t.Fatalf("the page's login was answered %d", status)
	}
	var types []event.Type
	for _, row := range event.Rows() {
		types = append(types, row.Stored)
	}
	names, err := json.Marshal(types)
	if err != nil {
		s.t.Fatal(err)
	}
	page.Do(fmt.Sprintf(`
		var received = [], opened = 0, source = new EventSource('/api/agent-runs/%s/events')
		source.onopen = () => opened++
		for (const type of %s)
			source.addEventListener(type, e => received.push({id: e.lastEventId, type: e.type, data: e.data}))`, run, names))
}

func received(page *browser.Page) []seen { return browser.Evaluate[[]seen](page, `received`) }

// curl follows a run as docs/protocols/canonical.md says: again from the last whole event, until there is nothing more.
func (s *scene) curl(program string, run id.Run) (events []seen) {
	login, err := s.a.Keeper.Load()
	if err != nil {
		s.t.Error(err)
		return nil
	}
	const done = "\n204"
	for last := "0"; s.t.Context().Err() == nil; {
		// How it ended says nothing that the answer does not.
		out, _ := exec.CommandContext(s.t.Context(), program, "-sN", "-w", "\n%{http_code}", //nolint:errcheck // see above
			"-H", "Authorization: Bearer "+login.AccessToken, "-H", "Last-Event-ID: "+last,
			s.Proxy.URL()+"/api/agent-runs/"+string(run)+"/events").Output()
		if string(out) == done {
			return events
		}
		for _, e := range wholeEvents(string(out)) {
			events, last = append(events, e), e.ID
		}
	}
	return events
}

// wholeEvents are those of a stream that a blank line ends: the rest was cut off.
func wholeEvents(stream string) (events []seen) {
	blocks := strings.Split(stream, "\n\n")
	for _, block := range blocks[:len(blocks)-1] {
		var e seen
		for line := range strings.Lines(block) {
			field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch field {
			case "id":
				e.ID = value
			case "event":
				e.Type = value
			case "data":
				e.Data = value
			}
		}
		if e.ID != "" {
			events = append(events, e)
		}
	}
	return events
}

// sameAsStored compares what somebody was shown with the log.
func (s *scene) sameAsStored(who string, got []seen, log []client.RunEvent) {
	s.t.Helper()
	flat := func(n, typ string, payload json.RawMessage) string { return n + " " + typ + " " + string(payload) }
	var shown, stored []string
	for _, e := range got {
		var data client.CanonicalEvent
		if err := json.Unmarshal([]byte(e.Data), &data); err != nil {
			s.t.Fatalf("%s: data of %s: %v", who, e.ID, err)
		}
		shown = append(shown, flat(e.ID, e.Type, data.Payload))
	}
	for _, e := range log {
		stored = append(stored, flat(strconv.FormatInt(e.EventSeq, 10), e.EventType, e.Payload))
	}
	if !slices.Equal(shown, stored) {
		s.t.Errorf("%s was shown something else than is stored:\n%s", who, rig.Diff(shown, stored))
	}
}
