package main

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/edge-server/edge"
)

type enrolCommand struct {
	Hub   string `required:"true" placeholder:"URL" help:"Address of the hub, such as https://hub.example.org."`
	Token string `required:"true" env:"EDGE_ENROL_TOKEN" placeholder:"TOKEN" help:"The token: good once, for 30 minutes. Better in EDGE_ENROL_TOKEN than where other users see it."`
}

// Run redeems the token.
func (c *enrolCommand) Run(p program) error {
	config, err := edge.LoadConfig(p.environ)
	if err != nil {
		return fmt.Errorf("configuration:\n%w", err)
	}
	name, err := edge.Enrol(p.ctx, config, c.Hub, c.Token, version)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "Enrolled as %s. Start it with: edge-server\n", name)
	return err
}
