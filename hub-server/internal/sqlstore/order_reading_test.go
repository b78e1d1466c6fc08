package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// talk is a conversation in which two runs and a person speak by turns.
type talk struct {
	*record
	session id.Session
	journal *journal
	runs    []id.Run
}

func newTalk(tb testing.TB, r *record) *talk {
	tb.Helper()
	k := &talk{record: r, session: r.conversation(tb), journal: newJournal(r.fleet.add(true))}
	k.journal.open(tb, r)
	for range 2 {
		k.runs = append(k.runs, r.start(tb, k.session).ID)
	}
	return k
}

// post stores a message of a person.
func (k *talk) post(tb testing.TB, text string) {
	tb.Helper()
	content, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		tb.Fatal(err)
	}
	do(tb, k.writer, []Lock{LockConversation(string(k.session))}, func(ctx context.Context, tx *Tx) error {
		_, err := tx.insertMessage(ctx, chat.Message{
			ID: id.NewMessage(), Session: k.session, Sender: chat.OfUser(k.fleet.owner), ContentType: chat.Text, Content: content, CreatedAt: tx.Now(),
		})
		return err
	})
}

// goOn lets n things happen in random order and company.
func (k *talk) goOn(tb testing.TB, n int, random *rand.Rand) {
	tb.Helper()
	for range n {
		if random.IntN(4) == 0 {
			k.post(tb, fmt.Sprint(random.IntN(100)))
			continue
		}
		for range 1 + random.IntN(5) {
			k.journal.write(tb, k.runs[random.IntN(2)], wireDelta, json.RawMessage(fmt.Sprintf(`{"delta":"%d"}`, random.IntN(100))))
		}
		k.journal.send(tb, k.record, int(k.journal.lane.Watermark)+1, len(k.journal.rows))
	}
}

func (k *talk) head(tb testing.TB) (last int64) {
	tb.Helper()
	const query = `SELECT last_place FROM conversation_counters WHERE session_id = $1`
	if err := k.store.readDB.QueryRowContext(tb.Context(), query, string(k.session)).Scan(&last); err != nil {
		tb.Fatal(err)
	}
	return last
}

// placed says what the tables have at each place.
func (k *talk) placed(tb testing.TB) []string {
	tb.Helper()
	all := make([]string, k.head(tb))
	const query = `SELECT e.place, e.run_id, e.event_seq FROM runs r JOIN run_events e ON e.run_id = r.run_id WHERE r.session_id = $1
UNION ALL SELECT place, '', seq FROM messages WHERE session_id = $1`
	rows, err := k.store.readDB.QueryContext(tb.Context(), query, string(k.session))
	err = scanAll(rows, err, func(row Scanner) error {
		var place, seq int64
		var run string
		err := row.Scan(&place, &run, &seq)
		all[place-1] = fmt.Sprint(run, seq)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// ordered reads the order page by page and says the same of it.
func (k *talk) ordered(ctx context.Context, head int64, limit int) (all []string, err error) {
	for int64(len(all)) < head {
		page, err := k.store.order(ctx, k.writer, k.session, int64(len(all)), head, limit)
		if err != nil || len(page) == 0 {
			return nil, fmt.Errorf("behind %d of %d: %v, %w", len(all), head, page, err)
		}
		for _, s := range joined(page) {
			if s.place != int64(len(all))+1 {
				return nil, fmt.Errorf("behind %d comes %+v", len(all), s)
			}
			for i := range s.places {
				what := fmt.Sprint(string(s.run), s.seq+i)
				if s.seq == 0 {
					what = ""
				}
				all = append(all, what)
			}
		}
	}
	return all, nil
}

func TestTheOrderOfAConversationIsReadInPagesWithoutAHole(t *testing.T) {
	chance := chanceOf(t)
	eachRecord(t, func(t *testing.T, r *record) {
		k, random := newTalk(t, r), chance.part(0)
		k.goOn(t, 40, random)
		for _, limit := range []int{2, 7, 1000} {
			if got, err := k.ordered(t.Context(), k.head(t), limit); err != nil || !slices.Equal(got, k.placed(t)) {
				t.Errorf("in pages of %d: %v\n%v\nwant\n%v", limit, err, got, k.placed(t))
			}
		}
	})
}

// Hubs of before do not enter anything, and what has left cannot be entered any more.
func TestAnOrderThatNobodyHasEnteredIsEnteredByWhoeverReads(t *testing.T) {
	chance := chanceOf(t)
	eachRecord(t, func(t *testing.T, r *record) {
		k, random := newTalk(t, r), chance.part(0)
		for round := range 6 {
			k.goOn(t, 20, random)
			do(t, r.writer, nil, func(ctx context.Context, tx *Tx) error {
				for _, statement := range []string{
					fmt.Sprintf(`DELETE FROM conversation_order WHERE (place * %d) %% 7 < %d`, 1+random.IntN(100), round),
					fmt.Sprintf(`DELETE FROM run_events WHERE (event_seq * %d) %% 11 = 0 AND event_seq < 20`, 1+random.IntN(100)),
				} {
					if _, err := tx.Exec(ctx, statement); err != nil {
						return err
					}
				}
				return nil
			})
			readers, head, want := make([][]string, 3), k.head(t), k.placed(t)
			errs := together(len(readers), func(i int) (err error) {
				readers[i], err = k.ordered(t.Context(), head, 5)
				return err
			})
			for i, got := range readers {
				if errs[i] != nil || !same(got, want) {
					t.Fatalf("round %d: %v\n%q\nwant\n%q", round, errs[i], got, want)
				}
			}
		}
	})
}

// same compares two orders; of what has left, one that was entered before it left still has the name.
func same(got, want []string) bool {
	return slices.EqualFunc(got, want, func(g, w string) bool { return g == w || w == "" })
}
