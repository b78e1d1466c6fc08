package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/search"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Search keeps the index of the search: search.Store and search.Index.
type Search struct {
	store  *Store
	writer *Writer
	chat   *Chat
	reach  reach
}

var (
	_ search.Store = (*Search)(nil)
	_ search.Index = (*Search)(nil)
)

// NewSearch reads from s and writes through w.
func NewSearch(s *Store, w *Writer) *Search {
	return &Search{store: s, writer: w, chat: NewChat(s, w), reach: reach{few: 2000, many: 20_000, window: 4000, enough: 16}}
}

// reach is how far a search looks.
type reach struct {
	few    int // up to so many postings of a term, or conversations of a person, it begins with them
	many   int // up to so many postings, it begins with what there is less of
	window int // newest blocks that it begins with otherwise
	enough int // blocks found in the window, so that it goes on with the next one
}

// Filled implements search.Store.
func (s *Search) Filled(ctx context.Context) (filled bool, err error) {
	err = s.store.queryRowPrepared(ctx, `SELECT filled FROM search_progress WHERE id = 1`).Scan(&filled)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return filled, err
}

// Blocks implements search.Store.
func (s *Search) Blocks(ctx context.Context, l search.Lookup) (found []search.Found, more bool, err error) {
	terms, rarest, err := s.byRarity(ctx, l.Terms)
	if err != nil || rarest == 0 {
		return nil, false, err
	}
	l.Terms = terms
	order, err := s.order(ctx, l, rarest)
	if err != nil {
		return nil, false, err
	}
	if order == byTime {
		floor, err := s.floor(ctx, l.After)
		if err != nil {
			return nil, false, err
		}
		if found, err = s.blocks(ctx, l, byTime, floor); err != nil || len(found) >= s.reach.enough {
			return found, true, err
		}
		order = byTerm // they are seldom together
	}
	found, err = s.blocks(ctx, l, order, search.Place{})
	return found, len(found) == l.Limit, err
}

// floor is the end of the window behind a place; zero when nothing is behind the window.
func (s *Search) floor(ctx context.Context, after search.Place) (floor search.Place, err error) {
	const query = `
SELECT newest, block_id FROM search_blocks WHERE (newest, block_id) < ($1, $2) ORDER BY newest DESC, block_id DESC LIMIT 1 OFFSET $3`
	newest, block := placeOr(after, math.MaxInt64)
	var at int64
	err = s.store.queryRowPrepared(ctx, query, newest, block, s.reach.window).Scan(&at, &floor.Block)
	if errors.Is(err, sql.ErrNoRows) {
		return search.Place{}, nil
	}
	floor.Newest = fromMicros(at)
	return floor, err
}

// blocks looks for blocks behind l.After and before floor, which may be zero.
func (s *Search) blocks(ctx context.Context, l search.Lookup, o order, floor search.Place) ([]search.Found, error) {
	until := int64(math.MaxInt64)
	if !l.Until.IsZero() {
		until = micros(l.Until)
	}
	newest, block := placeOr(l.After, math.MaxInt64)
	least, first := placeOr(floor, math.MinInt64)
	args := []any{string(l.User), until, newest, block, least, first, l.Limit}
	for _, t := range l.Terms {
		args = append(args, int64(t))
	}
	if l.Session != "" {
		args = append(args, string(l.Session))
	}
	rows, err := s.store.queryPrepared(ctx, blocksQuery(o, len(l.Terms), l.Session != ""), args...)
	return collect(rows, err, scanFound)
}

func placeOr(p search.Place, none int64) (newest, block int64) {
	if p == (search.Place{}) {
		return none, none
	}
	return micros(p.Newest), int64(p.Block)
}

func scanFound(row Scanner) (f search.Found, err error) {
	var newest, number int64
	err = row.Scan(&f.Block, &f.Session, &number, &newest, &f.Bits)
	f.Newest, f.First = fromMicros(newest), search.BlockKey{Number: number}.First()
	return f, err
}

// byRarity orders terms, those first of which there are few postings, and says how many the first has, as far as that matters.
func (s *Search) byRarity(ctx context.Context, terms []search.Term) (ordered []search.Term, rarest int, err error) {
	const count = `SELECT COUNT(*) FROM (SELECT 1 FROM search_postings WHERE term = $1 LIMIT $2) found`
	rarest = math.MaxInt
	for _, t := range terms {
		var n int
		if err := s.store.queryRowPrepared(ctx, count, int64(t), s.reach.many+1).Scan(&n); err != nil {
			return nil, 0, fmt.Errorf("count postings: %w", err)
		}
		if n < rarest {
			rarest = n
			ordered = append([]search.Term{t}, ordered...)
		} else {
			ordered = append(ordered, t)
		}
	}
	return ordered, rarest, nil
}

// order is what a search begins with. PostgreSQL chooses for itself.
type order uint8

const (
	byTerm   order = iota // the postings of the rarest term, narrowed down by the others
	byMember              // the conversations of the person
	byTime                // the newest blocks of the store
)

// order chooses so that no search looks through much more than it must: a rare term or few conversations are few blocks; who asks for
// terms that are everywhere and is in very many conversations mostly finds enough among the newest blocks.
func (s *Search) order(ctx context.Context, l search.Lookup, rarest int) (order, error) {
	switch {
	case l.Session != "":
		return byMember, nil
	case rarest <= s.reach.few:
		return byTerm, nil
	}
	const count = `SELECT COUNT(*) FROM (SELECT 1 FROM session_members WHERE member_id = $1 LIMIT $2) found`
	var n int
	if err := s.store.queryRowPrepared(ctx, count, string(l.User), s.reach.many+1).Scan(&n); err != nil {
		return 0, fmt.Errorf("count conversations: %w", err)
	}
	switch {
	case n <= s.reach.few, rarest <= s.reach.many && n <= rarest:
		return byMember, nil
	case rarest <= s.reach.many:
		return byTerm, nil
	}
	return byTime, nil
}

// blocksQuery selects the blocks that have all of the terms: $1 the user, $2 the time until which, $3 and $4 the place behind which, $5 and $6 the
// one before which, $7 how many, from $8 on the terms, then the conversation, if it is one. CROSS JOIN keeps SQLite to the order.
func blocksQuery(o order, terms int, one bool) string {
	postings, bits := make([]string, terms), make([]string, terms)
	var where strings.Builder
	for i := range terms {
		p := "p" + strconv.Itoa(i)
		postings[i], bits[i] = "search_postings "+p, p+".bits"
		where.WriteString(" AND " + p + ".term = $" + strconv.Itoa(8+i))
		if i > 0 {
			where.WriteString(" AND " + p + ".block_id = p0.block_id")
		}
	}
	if one {
		where.WriteString(" AND m.session_id = $" + strconv.Itoa(8+terms))
	}
	const blocks, members = "search_blocks b", "session_members m"
	tables := map[order][]string{
		byTerm: append(slices.Clone(postings), blocks, members), byMember: append([]string{members, blocks}, postings...),
		byTime: append([]string{blocks, members}, postings...),
	}[o]
	all := strings.Join(bits, " & ")
	return `SELECT b.block_id, b.session_id, b.number, b.newest, ` + all + ` FROM ` + strings.Join(tables, " CROSS JOIN ") + `
WHERE m.member_id = $1 AND m.left_at IS NULL AND b.session_id = m.session_id AND b.oldest <= $2
  AND (b.newest, b.block_id) < ($3, $4) AND (b.newest, b.block_id) >= ($5, $6) AND p0.block_id = b.block_id` + where.String() + `
  AND (` + all + `) <> 0 ORDER BY b.newest DESC, b.block_id DESC LIMIT $7`
}

// Stand implements search.Store.
func (s *Search) Stand(ctx context.Context, f search.Found, p search.Period) ([]chat.Message, error) {
	const query = `SELECT ` + messageColumns + ` FROM messages
WHERE session_id = $1 AND seq >= $2 AND seq < $3 AND (CAST($4 AS BIGINT) >> CAST(seq - $2 AS INTEGER)) & 1 = 1
  AND recalled_at = 0 AND created_at >= $5 AND created_at <= $6`
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	if !p.From.IsZero() {
		from = micros(p.From)
	}
	if !p.To.IsZero() {
		to = micros(p.To)
	}
	rows, err := s.store.queryPrepared(ctx, query, string(f.Session), int64(f.First), int64(f.First)+search.BlockSize, int64(f.Bits), from, to)
	return collect(rows, err, scanMessage)
}

// Dressed implements search.Store.
func (s *Search) Dressed(ctx context.Context, messages []chat.Message) error {
	for i := range messages {
		if err := s.chat.dress(ctx, messages[i].Session, messages[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// Behind implements search.Index.
func (s *Search) Behind(ctx context.Context, after search.Fill, limit int) ([]chat.Message, error) {
	const query = `SELECT ` + messageColumns + ` FROM messages WHERE (session_id, seq) > ($1, $2) ORDER BY session_id, seq LIMIT $3`
	rows, err := s.store.queryPrepared(ctx, query, string(after.Session), int64(after.Seq), limit)
	return collect(rows, err, scanMessage)
}

// standing returns messages as they stand, in no order.
func (s *Search) standing(ctx context.Context, ids []id.Message) ([]chat.Message, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	query, args := inList(`SELECT `+messageColumns+` FROM messages WHERE id IN `, ids)
	rows, err := s.store.readDB.QueryContext(ctx, query, args...)
	return collect(rows, err, scanMessage)
}
