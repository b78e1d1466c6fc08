package cli

import (
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/talk"
)

// logoutWithin bounds how long a hub that does not answer holds up a logout.
const logoutWithin = 5 * time.Second

type edgeCmd struct {
	Enrol  edgeEnrolCmd  `cmd:"" help:"Make a token that lets one machine join."`
	Revoke edgeRevokeCmd `cmd:"" help:"Remove an edge for good."`
}

type edgeEnrolCmd struct {
	Name string `arg:"" help:"What to call the edge."`
}

// Help is shown below the usage.
func (edgeEnrolCmd) Help() string {
	return `The token works once, for 30 minutes. Redeem it on the machine that will run the agents.

Examples:
  yard edge enrol laptop
  yard edge enrol laptop --json | jq -r .token`
}

// Run makes a token and prints the command that redeems it.
func (c edgeEnrolCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		made, err := client.Decode[client.Enrolment](h.API().CreateEnrolment(s.ctx, &client.CreateEnrolmentParams{IdempotencyKey: talk.Key()},
			client.EnrolmentInput{Name: c.Name}))
		if err != nil {
			return err
		}
		return s.print(made, func() error {
			return s.say("good once, until %s; on the machine that is to run agents:\n\n  edge-server enrol --hub %s --token %s && edge-server",
				made.ExpiresAt.Local().Format("15:04"), h.Hub(), made.Token)
		})
	})
}

type edgeRevokeCmd struct {
	Edge string `arg:"" help:"The edge: its name, or the beginning of its id."`
}

// Run revokes an edge.
func (c edgeRevokeCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		found, err := h.find.Edge(s.ctx, c.Edge)
		if err != nil {
			return err
		}
		if _, err := client.Decode[client.Nothing](h.API().RevokeEdge(s.ctx, found.ID)); err != nil {
			return err
		}
		return s.print(found, func() error { return s.say("%s is removed; the logs of its runs stay", found.Name) })
	})
}

type deviceCmd struct {
	Revoke deviceRevokeCmd `cmd:"" help:"Log a device out for good."`
}

type deviceRevokeCmd struct {
	Ref string `arg:"" name:"device" help:"The device: its name, or the beginning of its id."`
}

// Run revokes a device.
func (c deviceRevokeCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		found, err := h.find.Device(s.ctx, c.Ref)
		if err != nil {
			return err
		}
		if _, err := client.Decode[client.Nothing](h.API().RevokeDevice(s.ctx, found.ID)); err != nil {
			return err
		}
		return s.print(found, func() error { return s.say("%s is logged out", found.Name) })
	})
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(s *session) error {
	return s.print(struct {
		Version string `json:"version"`
	}{s.Version}, func() error { return s.say("yard %s", s.Version) })
}
