package delivery

import (
	"context"
	"fmt"
)

// foresight is what rows expand to that are about to be delivered.
type foresight map[Position]Expansion

// foresee expands those of the rows that somebody here is to have as things stand. What fails is left to its delivery.
func (t *Tail) foresee(ctx context.Context, rows []Row) foresight {
	if len(rows) == 1 {
		return nil
	}
	heard := t.heard(rows)
	if len(heard) == 0 {
		return nil
	}
	expansions, _ := t.expand.Expand(ctx, heard) //nolint:errcheck // whoever needs the row that it is about meets it again
	ahead := make(foresight, len(expansions))
	for i, x := range expansions {
		ahead[heard[i].Position] = x
	}
	return ahead
}

// heard returns the rows that somebody here is to have, as far as memberships have come.
func (t *Tail) heard(rows []Row) (heard []Row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, row := range rows {
		if len(t.roster.audience(row.Audience)) > 0 {
			heard = append(heard, row)
		}
	}
	return heard
}

// expansionOf returns what a row expands to, which is read by itself if nobody has foreseen that somebody would want it.
func (t *Tail) expansionOf(ctx context.Context, row Row, ahead foresight) (Expansion, error) {
	if known, ok := ahead[row.Position]; ok {
		return known, nil
	}
	expansions, err := t.expandAll(ctx, []Row{row})
	if err != nil {
		return Expansion{}, err
	}
	return expansions[0], nil
}

// expandAll is Expand, and says which row an error is about.
func (t *Tail) expandAll(ctx context.Context, rows []Row) ([]Expansion, error) {
	expansions, err := t.expand.Expand(ctx, rows)
	if err != nil {
		return expansions, fmt.Errorf("expand row %d: %w", rows[len(expansions)].Position, err)
	}
	return expansions, nil
}
