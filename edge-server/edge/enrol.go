package edge

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/edge-server/internal/uplink"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Enrol redeems a single-use token at a hub and writes the identity it gets to the home folder. Its errors say what to do.
func Enrol(ctx context.Context, c Config, hubURL, token, version string) (id.Edge, error) {
	if known, err := readIdentity(c.Home); !errors.Is(err, ErrNotEnrolled) {
		if err != nil {
			return "", err
		}
		return "", fmt.Errorf("this edge is enrolled already, as %s at %s: use another EDGE_HOME, or remove %s to give it up with all that has "+
			"not reached its hub", known.EdgeID, known.HubURL, c.Home)
	}
	got, err := uplink.Enrol(ctx, hubURL, uplink.Enrolment{Token: token, Hostname: hostname(), Version: version})
	if err != nil {
		return "", explain(err, hubURL)
	}
	who := identity{HubURL: got.HubURL, EdgeID: got.Edge, Credential: got.Credential}
	if err := writeIdentity(c.Home, who); err != nil {
		return "", fmt.Errorf("the hub took the token, but its answer could not be kept in %s; make a new token: %w",
			filepath.Join(c.Home, identityFile), err)
	}
	return who.EdgeID, nil
}

// explain adds what to do to an error of enrolment.
func explain(err error, hubURL string) error {
	switch fault.CodeOf(err) {
	case fault.EnrolmentInvalid:
		return errors.New("the hub does not take this token: it is used, older than 30 minutes or mistyped; make a new one with: yard edge enrol")
	case fault.Internal:
		return fmt.Errorf("enrol at %s: is that the address of a hub, and does it run?: %w", hubURL, err)
	}
	return fmt.Errorf("enrol at %s: %w", hubURL, err)
}
