package cli

import "github.com/switchyard-dev/switchyard/hub-server/client"

// glance is where a narrowed view stands. It begins at the device's place and leaves that alone: what the view hides is still due to the
// device when it looks at everything again.
type glance struct {
	device client.Position
	cursor string // "" until the view has moved
}

// LoadCursor implements client.Position.
func (g *glance) LoadCursor() (string, error) {
	if g.cursor != "" {
		return g.cursor, nil
	}
	return g.device.LoadCursor()
}

// SaveCursor implements client.Position.
func (g *glance) SaveCursor(cursor string) error {
	g.cursor = cursor
	return nil
}
