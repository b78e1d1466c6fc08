package omni

import "fmt"

// trail is the way from a message to a value in it. It becomes text only where there is something to tell of the value.
type trail struct {
	up   *trail // nil of the first
	name string // of a key; "" of an element
	nth  int    // of an element
}

// The members of the envelope.
var (
	atTimestamp = &trail{name: "timestamp"}
	atOrigin    = &trail{name: "origin"}
	atPayload   = &trail{name: "payload"}
)

// String is the way as problems have it: payload.tools[1].name.
func (t *trail) String() string {
	switch {
	case t.up == nil:
		return t.name
	case t.name == "":
		return fmt.Sprintf("%s[%d]", t.up, t.nth)
	}
	return t.up.String() + "." + t.name
}
