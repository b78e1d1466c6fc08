package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/search"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// lockSearch keeps the hubs of a store from filling the index at once.
func lockSearch() Lock { return LockAccount("search") }

// Progress implements search.Index.
func (s *Search) Progress(ctx context.Context) (search.Progress, error) {
	p, err := s.progress(ctx)
	if !errors.Is(err, sql.ErrNoRows) {
		return p, err
	}
	err = s.writer.Do(ctx, []Lock{lockSearch()}, func(ctx context.Context, tx *Tx) error {
		const begin = `
INSERT INTO search_progress (id, step, place, fill_session, fill_seq, filled, blocks)
SELECT 1, 0, outbox_pos, '', 0, FALSE, 0 FROM store_counter WHERE id = 1
ON CONFLICT (id) DO NOTHING`
		_, err := tx.Exec(ctx, begin)
		return err
	})
	if err != nil {
		return p, fmt.Errorf("begin index: %w", err)
	}
	return s.progress(ctx)
}

func (s *Search) progress(ctx context.Context) (p search.Progress, err error) {
	const query = `SELECT step, place, fill_session, fill_seq, filled, blocks FROM search_progress WHERE id = 1`
	err = s.store.queryRowPrepared(ctx, query).Scan(&p.Step, &p.Place, &p.Fill.Session, &p.Fill.Seq, &p.Fill.Done, &p.Blocks)
	return p, err
}

// Changed implements search.Index.
func (s *Search) Changed(ctx context.Context, after delivery.Position, limit int) (search.Changes, error) {
	bounds, err := s.store.Bounds(ctx) // before the rows: up to the head they are all there
	if err != nil || bounds.Head <= after {
		return search.Changes{UpTo: after}, err
	}
	const query = `
SELECT pos, message_id FROM outbox
WHERE pos > $1 AND pos <= $2 AND (kind = $3 OR (kind = $4 AND frame_type = $5)) ORDER BY pos LIMIT $6`
	c := search.Changes{UpTo: bounds.Head, Lost: bounds.Floor > after}
	var last delivery.Position
	var ids []id.Message
	rows, err := s.store.queryPrepared(ctx, query, int64(after), int64(bounds.Head), string(delivery.KindMessage), string(delivery.KindFrame),
		frameMessageRecall, limit)
	err = scanAll(rows, err, func(row Scanner) error {
		var m id.Message
		err := row.Scan(&last, &m)
		ids = append(ids, m)
		return err
	})
	if err != nil {
		return c, fmt.Errorf("read changes: %w", err)
	}
	if len(ids) == limit {
		c.UpTo, c.More = last, true
	}
	slices.Sort(ids)
	c.Messages, err = s.standing(ctx, slices.Compact(ids))
	return c, err
}

// Enter implements search.Index.
func (s *Search) Enter(ctx context.Context, from, to search.Progress, entries []search.Entry) (search.Progress, error) {
	in, err := s.arrange(ctx, from, entries)
	if err != nil {
		return from, err
	}
	to.Step, to.Blocks = from.Step+1, in.last
	err = s.writer.Do(ctx, []Lock{lockSearch()}, func(ctx context.Context, tx *Tx) error {
		const move = `
UPDATE search_progress SET step = $2, place = $3, fill_session = $4, fill_seq = $5, filled = $6, blocks = $7 WHERE id = 1 AND step = $1`
		n, err := tx.Exec(ctx, move, from.Step, to.Step, int64(to.Place), string(to.Fill.Session), int64(to.Fill.Seq), to.Fill.Done, int64(to.Blocks))
		switch {
		case err != nil:
			return fmt.Errorf("move index: %w", err)
		case n == 0:
			return search.ErrTaken
		}
		return tx.enter(ctx, in)
	})
	if err != nil {
		return from, err
	}
	return to, nil
}

// arranged is what a transaction writes, in the order in which it does.
type arranged struct {
	blocks   []any // rows
	stale    []stale
	postings []any // rows
	last     search.BlockID
}

// stale are postings of messages that say something else now.
type stale struct {
	block search.BlockID
	bits  search.Bits
}

type posting struct {
	term  search.Term
	block search.BlockID
}

type block struct {
	id             search.BlockID
	oldest, newest int64
}

// arrange reads the blocks that entries are in and computes what changes. Between this and the transaction nothing moves, or the step does.
func (s *Search) arrange(ctx context.Context, from search.Progress, entries []search.Entry) (arranged, error) {
	in := arranged{last: from.Blocks}
	blocks, postings := map[search.BlockKey]block{}, map[posting]search.Bits{}
	for _, e := range entries {
		key, bit := search.BlockOf(e.Session, e.Seq)
		b, seen := blocks[key]
		known := seen
		if !seen {
			var err error
			if b, known, err = s.block(ctx, key); err != nil {
				return in, err
			}
		}
		if at := micros(e.At); known {
			b.oldest, b.newest = min(b.oldest, at), max(b.newest, at)
		} else {
			in.last++
			b = block{in.last, at, at}
		}
		blocks[key] = b
		if e.Anew {
			in.stale = append(in.stale, stale{b.id, bit})
		}
		for _, t := range e.Terms {
			postings[posting{t, b.id}] |= bit
		}
	}
	inOrder := slices.SortedFunc(maps.Keys(blocks), func(a, b search.BlockKey) int { return cmp.Compare(blocks[a].id, blocks[b].id) })
	for _, key := range inOrder {
		b := blocks[key]
		in.blocks = append(in.blocks, int64(b.id), string(key.Session), key.Number, b.oldest, b.newest)
	}
	byKey := slices.SortedFunc(maps.Keys(postings), func(a, b posting) int {
		return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(a.block, b.block))
	})
	for _, p := range byKey {
		in.postings = append(in.postings, int64(p.term), int64(p.block), int64(postings[p]))
	}
	return in, nil
}

func (s *Search) block(ctx context.Context, key search.BlockKey) (b block, known bool, err error) {
	const query = `SELECT block_id, oldest, newest FROM search_blocks WHERE session_id = $1 AND number = $2`
	err = s.store.queryRowPrepared(ctx, query, string(key.Session), key.Number).Scan(&b.id, &b.oldest, &b.newest)
	if errors.Is(err, sql.ErrNoRows) {
		return b, false, nil
	}
	if err != nil {
		return b, false, fmt.Errorf("read block: %w", err)
	}
	return b, true, nil
}

var (
	putBlocks = bulk{
		begin: `INSERT INTO search_blocks (block_id, session_id, number, oldest, newest) VALUES `,
		width: 5,
		end:   ` ON CONFLICT (block_id) DO UPDATE SET oldest = excluded.oldest, newest = excluded.newest`,
	}
	addPostings = bulk{
		begin: `INSERT INTO search_postings (term, block_id, bits) VALUES `,
		width: 3,
		end:   ` ON CONFLICT (term, block_id) DO UPDATE SET bits = search_postings.bits | excluded.bits`,
	}
)

func (t *Tx) enter(ctx context.Context, in arranged) error {
	if err := t.execRows(ctx, putBlocks, in.blocks); err != nil {
		return fmt.Errorf("put blocks: %w", err)
	}
	for _, old := range in.stale {
		const takeBack = `UPDATE search_postings SET bits = bits & $3 WHERE block_id = $1 AND (bits & $2) <> 0`
		if _, err := t.Exec(ctx, takeBack, int64(old.block), int64(old.bits), int64(search.All&^old.bits)); err != nil {
			return fmt.Errorf("take bits back: %w", err)
		}
		if _, err := t.Exec(ctx, `DELETE FROM search_postings WHERE block_id = $1 AND bits = 0`, int64(old.block)); err != nil {
			return fmt.Errorf("remove postings: %w", err)
		}
	}
	if err := t.execRows(ctx, addPostings, in.postings); err != nil {
		return fmt.Errorf("add postings: %w", err)
	}
	return nil
}
