package edge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/edge-server/internal/uplink"
	"github.com/switchyard-dev/switchyard/shared/durable"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// identityFile holds what enrolment gave. It contains a secret: mode 0600.
const identityFile = "edge.json"

// identity is the content of the file.
type identity struct {
	HubURL     string  `json:"hub_url"`
	EdgeID     id.Edge `json:"edge_id"`
	Credential string  `json:"credential"`
}

// ErrNotEnrolled says that this edge belongs to no hub yet.
var ErrNotEnrolled = errors.New("this edge is not enrolled at a hub yet")

// readIdentity returns ErrNotEnrolled if there is no file.
func readIdentity(home string) (identity, error) {
	var who identity
	path := filepath.Join(home, identityFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return who, ErrNotEnrolled
	}
	if err != nil {
		return who, fmt.Errorf("read identity: %w", err)
	}
	if err := json.Unmarshal(data, &who); err != nil {
		return who, fmt.Errorf("read identity: %s is damaged: %w", path, err)
	}
	if _, err := id.ParseEdge(string(who.EdgeID)); err != nil || who.Credential == "" {
		return who, fmt.Errorf("read identity: %s is damaged: it lacks an edge id or a credential", path)
	}
	return who, nil
}

// writeIdentity writes the file: when enrolment says that it is done, it outlives a loss of power.
func writeIdentity(home string, who identity) error {
	if err := durable.MakeFolder(home); err != nil {
		return fmt.Errorf("make home folder: %w", err)
	}
	data, err := json.MarshalIndent(who, "", "  ")
	if err != nil {
		return fmt.Errorf("encode identity: %w", err)
	}
	if err := durable.Replace(filepath.Join(home, identityFile), append(data, '\n')); err != nil {
		return fmt.Errorf("write identity: %w", err)
	}
	return nil
}

// forUplink joins the file with what the configuration overrides.
func (w identity) forUplink(c Config) uplink.Identity {
	hub := w.HubURL
	if c.HubURL != "" {
		hub = c.HubURL
	}
	return uplink.Identity{HubURL: hub, Edge: w.EdgeID, Credential: w.Credential}
}
