package up

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

// ready is the line that programs wait for.
type ready struct {
	Hub      string        `json:"hub"`
	Edge     string        `json:"edge"`
	EdgeID   client.EdgeID `json:"edge_id"`
	HubPID   int           `json:"hub_pid"`
	EdgePID  int           `json:"edge_pid"`
	YardHome string        `json:"yard_home"`
	State    string        `json:"state"`
	TookMS   int64         `json:"took_ms"`
}

// welcome says that everything runs, and what to type next.
func (s *state) welcome(ctx context.Context) error {
	own, err := s.edgeID()
	if err != nil {
		return err
	}
	if s.JSON {
		s.recording.Lock()
		now := s.record
		s.recording.Unlock()
		return json.NewEncoder(s.Out).Encode(ready{
			Hub: now.Hub, Edge: now.Edge, EdgeID: own, HubPID: now.HubPID, EdgePID: now.EdgePID,
			YardHome: s.home.Dir(), State: s.State, TookMS: time.Since(s.started).Milliseconds(),
		})
	}
	_, err = io.WriteString(s.Out, s.banner(s.agents(ctx, own)))
	return err
}

// agents names what the edge can run, for the banner; empty if the hub does not say.
func (s *state) agents(ctx context.Context, edge client.EdgeID) string {
	ctx, cancel := context.WithTimeout(ctx, sayAfter)
	defer cancel()
	hub, err := s.client()
	if err != nil {
		return ""
	}
	found, err := client.Decode[client.Edge](hub.API().GetEdge(ctx, edge))
	if err != nil {
		return ""
	}
	var names []string
	for _, p := range found.Profiles {
		names = append(names, p.Name)
	}
	return screen.Line(strings.Join(names, ", "), 100)
}

func (s *state) banner(agents string) string {
	bold, dim := s.Style.Bold, s.Style.Dim
	yard := s.Yard
	if s.home.Dir() != filepath.Join(s.WorkDir, ".switchyard", "yard") {
		yard = "YARD_HOME=" + s.short(s.home.Dir()) + " " + yard
	}
	return fmt.Sprintf(`
%s

  address   %s
  login     %s
  edge      %s; agents: %s; workspace: %s
  logs      %s

Type next, in two other terminals:

  %s
  %s

%s
`,
		bold("Switchyard is running.")+dim(" Ready after "+screen.Took(time.Since(s.started))+"."),
		s.Style.Cyan(s.hubURL), s.loginLine(), machine(), agents, s.short(s.Workspace), s.short(s.dir("logs")),
		bold(yard+" watch"), bold(yard+` --device b send --session demo "@scout what changed here in the last 20 commits?"`),
		dim("Ctrl-C stops everything; the next start goes on where this one stopped."))
}

func (s *state) loginLine() string {
	file := s.short(s.dir("login.txt"))
	if s.fresh != nil {
		return fmt.Sprintf("%s, password %s (also in %s)", s.Style.Bold(s.fresh.user), s.Style.Bold(s.fresh.password), file)
	}
	if who, known := s.readAccount(); known {
		return fmt.Sprintf("%s, password in %s", s.Style.Bold(who.user), file)
	}
	return "as before"
}
