package gate

// doorway bounds how many connections are on their way in at once: each costs the store a few reads, and memory, until it is greeted.
// Safe for concurrent use.
type doorway chan struct{}

func newDoorway(places int) doorway { return make(doorway, places) }

// enter takes a place; false if there is none.
func (d doorway) enter() bool {
	select {
	case d <- struct{}{}:
		return true
	default:
		return false
	}
}

// leave gives the place back.
func (d doorway) leave() { <-d }
