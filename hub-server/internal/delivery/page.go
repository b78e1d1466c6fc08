package delivery

import (
	"context"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// portion is how many of the rows, at least one if there are any, are expanded at once: what they are about is read together, and is about a
// page at most.
func portion(rows int, weight func(i int) int) (n int) {
	for size := 0; n < rows && size < pageBytes; n++ {
		size += weight(n)
	}
	return n
}

// pageOf returns the frames of rows for a user until they are a page, and of how many rows these are, at least one if there are any.
func (t *Tail) pageOf(ctx context.Context, user id.User, rows []*passed) (frames []Frame, done int, err error) {
	frames = make([]Frame, 0, len(rows))
	for size := 0; done < len(rows) && size < pageBytes; {
		encoded, err := t.encoded(ctx, rows[done:])
		for _, all := range encoded {
			if size >= pageBytes {
				return frames, done, nil
			}
			seen := all.of(user)
			size += sizeOf(seen)
			frames = append(frames, seen...)
			done++
		}
		if err != nil && size < pageBytes {
			return nil, 0, err
		}
	}
	return frames, done, nil
}

// encoded returns the frames of a portion of rows that lie behind the tail; with an error, those of the rows before the one that it is about.
func (t *Tail) encoded(ctx context.Context, rows []*passed) ([]rowFrames, error) {
	rows = rows[:portion(len(rows), func(i int) int { return rows[i].row.weight() })]
	var missing []Row
	for _, p := range rows {
		if !p.encoded {
			missing = append(missing, p.row)
		}
	}
	var expansions []Expansion
	var err error
	if len(missing) > 0 {
		expansions, err = t.expandAll(ctx, missing)
	}
	encoded := make([]rowFrames, 0, len(rows))
	for _, p := range rows {
		frames := p.frames
		if !p.encoded {
			if len(expansions) == 0 {
				break
			}
			frames, expansions = t.encode(p.row, expansions[0]), expansions[1:]
		}
		encoded = append(encoded, frames)
	}
	if len(missing) > 0 {
		t.remember(rows, encoded)
	}
	return encoded, err
}

// remember keeps frames of rows for whoever comes back next.
func (t *Tail) remember(rows []*passed, encoded []rowFrames) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, frames := range encoded {
		t.recent.encode(rows[i].row.Position, frames)
	}
}
