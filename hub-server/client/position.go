package client

// Position is where a device stands in the hub's order of frames. Keep it and come back with it.
type Position interface {
	// LoadCursor returns the newest cursor, or "". It is called once, before the first connection.
	LoadCursor() (string, error)
	// SaveCursor replaces it. It is called when the caller has taken every frame up to the cursor.
	SaveCursor(cursor string) error
}

// KeptByCaller returns the position of an application that keeps the cursor itself, in one transaction with what it makes of the frames:
// it writes each Update's Cursor that is not "", and gives the newest one here when it starts.
func KeptByCaller(cursor string) Position { return keptByCaller(cursor) }

type keptByCaller string

func (c keptByCaller) LoadCursor() (string, error) { return string(c), nil }
func (c keptByCaller) SaveCursor(string) error     { return nil }

// progress is where one reader stands: by what it was handed, from which connections resume, and by what it has applied, which is kept.
// The first moves before an event is handed on, so that no connection brings it again; the second only when the reader comes back, so that
// a crash in between loses nothing.
type progress struct {
	kept   Position
	loaded bool
	handed string // of the newest frame that was handed on
	due    string // of the newest frame that was handed on but not kept yet; "" for none
	before string // handed, before the present frame
}

// resume returns the cursor that a connection goes on from.
func (p *progress) resume() (string, error) {
	if p.loaded {
		return p.handed, nil
	}
	cursor, err := p.kept.LoadCursor()
	if err != nil {
		return "", &positionError{err}
	}
	p.handed, p.loaded = cursor, true
	return cursor, nil
}

// hand notes that a contiguous frame is about to be handed on. A frame in the middle of a step has no cursor.
func (p *progress) hand(cursor string) {
	p.before = p.handed
	if cursor != "" {
		p.handed, p.due = cursor, cursor
	}
}

// takeBack undoes hand: the reader has left before the frame was handed on whole.
func (p *progress) takeBack() { p.handed, p.due = p.before, "" }

// applied keeps what was handed on: the reader has come back for more.
func (p *progress) applied() error {
	if p.due == "" {
		return nil
	}
	if err := p.kept.SaveCursor(p.due); err != nil {
		return &positionError{err}
	}
	p.due = ""
	return nil
}

// positionError says that the cursor could not be kept: going on would repeat or lose frames at the next start.
type positionError struct{ err error }

func (e *positionError) Error() string { return "keep cursor: " + e.err.Error() }
func (e *positionError) Unwrap() error { return e.err }
