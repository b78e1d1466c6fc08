package story

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// plainReader follows a run as any client of server-sent events does: it knows the address, its token and the id of the last frame.
type plainReader struct {
	s      *scene
	run    id.Run
	query  string
	last   string
	events []client.CanonicalEvent
}

// follow reads until enough says so or the stream ends; the error says how.
func (p *plainReader) follow(enough func() bool) error {
	login, err := p.s.a.Keeper.Load()
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(p.s.t.Context(), http.MethodGet, p.s.HubURL()+"/api/agent-runs/"+string(p.run)+"/events"+p.query, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+login.AccessToken)
	if p.last != "" {
		r.Header.Set("Last-Event-ID", p.last)
	}
	once := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // without a limit: a stream lasts as long as its run
	resp, err := once.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", resp.Status)
	}
	return p.read(bufio.NewScanner(resp.Body), enough)
}

func (p *plainReader) read(lines *bufio.Scanner, enough func() bool) error {
	lines.Buffer(nil, 1<<20)
	for !enough() && lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "id":
			p.last = value
		case "data":
			var e client.CanonicalEvent
			if err := json.Unmarshal([]byte(value), &e); err != nil {
				return fmt.Errorf("data of %s: %w", p.last, err)
			}
			p.events = append(p.events, e)
		}
	}
	return lines.Err()
}

// over says whether the run's outcome has come.
func (p *plainReader) over() bool {
	return len(p.events) > 0 && p.events[len(p.events)-1].EventType == "run.completed"
}

// Nothing but an address and Last-Event-ID takes a client through a hub that is killed, and one that is stopped.
func TestAPlainHTTPClientFollowsARunThroughAKillAndAStopOfTheHub(t *testing.T) {
	t.Parallel()
	work, tell := untilTold(t)
	s := newScene(t, "--events", forever, "--rate", "150", "--tools", "--while", work)
	p := &plainReader{s: s, run: s.begin()}
	never := func() bool { return false }

	if err := p.follow(func() bool { return len(p.events) >= 60 }); err != nil {
		t.Fatal(err)
	}
	s.KillHub()
	if err := p.follow(never); err == nil {
		t.Error("a hub that was killed answers")
	}
	s.StartHub()
	stopping, stopped := false, make(chan struct{})
	if err := p.follow(func() bool {
		if len(p.events) >= 200 && !stopping {
			stopping = true
			go func() { defer close(stopped); s.Hub().Stop() }()
		}
		return false
	}); err != nil {
		t.Errorf("a hub that stops cut the stream: %v", err)
	}
	<-stopped // and it did not wait for the run
	s.StartHub()
	tell()
	s.Eventually("the whole run", func() bool { return p.over() || p.follow(never) == nil && p.over() })

	log := s.settle(p.run, client.RunStateCompleted)
	if len(p.events) != len(log) {
		t.Fatalf("the client has %d events, the log has %d", len(p.events), len(log))
	}
	for i, e := range log {
		got := p.events[i]
		if got.Seq != e.EventSeq || got.EventType != e.EventType || string(got.Payload) != string(e.Payload) {
			t.Fatalf("event %d is %d %s %s, stored is %s %s", i+1, got.Seq, got.EventType, got.Payload, e.EventType, e.Payload)
		}
	}
	if n, by := s.spans(p.run); n < 10 || !by["edge"] {
		t.Errorf("a run that called tools has %d spans, of %v", n, by)
	}
}
