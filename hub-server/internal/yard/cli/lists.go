package cli

import (
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

// list is a list as --json prints it.
type list[T any] struct {
	Items []T `json:"items"`
}

// table prints items as JSON, or as rows below a head.
func table[T any](s *session, items []T, none string, head []string, row func(T) []string) error {
	return s.print(list[T]{items}, func() error {
		if len(items) == 0 {
			return s.say("%s", none)
		}
		rows := make([][]string, len(items))
		for i, item := range items {
			rows[i] = row(item)
		}
		return screen.Table(s.Out, s.style, head, rows)
	})
}

type sessionsCmd struct {
	Limit int `short:"n" default:"50" help:"How many, the most recently changed first (default: 50)."`
}

// Run lists conversations.
func (c sessionsCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		all, err := h.find.Sessions(s.ctx, c.Limit)
		if err != nil {
			return err
		}
		now := time.Now()
		return table(s, all, "no conversations yet; `yard send --session NAME TEXT` begins one",
			[]string{"name", "members", "messages", "unread", "changed", "id"}, func(x client.Session) []string {
				return []string{x.Name, memberNames(x), number(x.LastSeq), number(x.Unread), screen.Ago(now, x.UpdatedAt), x.ID}
			})
	})
}

func memberNames(s client.Session) string {
	names := make([]string, len(s.Members))
	for i, m := range s.Members {
		names[i] = m.Name
	}
	return strings.Join(names, ", ")
}

type agentsCmd struct{}

// Run lists agents.
func (agentsCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		all, err := client.Decode[client.AgentList](h.API().ListAgents(s.ctx))
		if err != nil {
			return err
		}
		return table(s, all.Items, "no agents yet; an edge brings them: `yard edge enrol NAME`",
			[]string{"name", "state", "runtime", "description", "id"}, func(a client.Agent) []string {
				state := "offline"
				switch {
				case !a.CanOperate:
					state = "not yours to start"
				case a.Online:
					state = "online"
				}
				return []string{a.Name, state, a.Runtime, a.Description, a.ID}
			})
	})
}

type edgesCmd struct{}

// Run lists edges.
func (edgesCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		all, err := client.Decode[client.EdgeList](h.API().ListEdges(s.ctx))
		if err != nil {
			return err
		}
		now := time.Now()
		return table(s, all.Items, "no edges yet; `yard edge enrol NAME` adds one",
			[]string{"name", "state", "seen", "agents", "version", "id"}, func(e client.Edge) []string {
				var profiles []string
				for _, p := range e.Profiles {
					profiles = append(profiles, p.Name)
				}
				seen := screen.Ago(now, e.LastSeenAt)
				if e.State == client.EdgeStateOnline {
					seen = "now"
				}
				return []string{e.Name, string(e.State), seen, strings.Join(profiles, ", "), e.Version, e.ID}
			})
	})
}

type devicesCmd struct{}

// Run lists devices.
func (devicesCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		all, err := client.Decode[client.DeviceList](h.API().ListDevices(s.ctx))
		if err != nil {
			return err
		}
		now := time.Now()
		return table(s, all.Items, "no devices", []string{"name", "type", "seen", "made", "id"}, func(d client.Device) []string {
			name := d.Name
			if d.Current {
				name += " (this login)"
			}
			return []string{name, string(d.Type), screen.Ago(now, d.LastSeenAt), screen.Ago(now, d.CreatedAt), d.ID}
		})
	})
}
