package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	maxMessages = 100_000_000
	span        = 2 * 365 * 24 * time.Hour // that the messages are spread over
)

// world is what there is to be written.
type world struct {
	messages, sessions int
	people             []id.User
	random             *rand.Rand
	began              time.Time

	ids      []id.Session
	where    []int32  // conversation of each message
	seqs     []int32  // number of each message in it
	counts   []int32  // messages of each conversation
	words    []uint16 // of all messages, one after the other
	ends     []uint32 // where the words of each message end
	newest   []int64  // time of the newest message of each conversation
	lexicon  *lexicon
	postings int
}

// at is when a message was sent.
func (w *world) at(message int) int64 {
	return w.began.Add(span / time.Duration(w.messages) * time.Duration(message)).UnixMicro()
}

// imagine decides everything that is random: a few conversations have very many messages, most have some.
func (w *world) imagine() {
	w.began = time.Now().Add(-span).UTC()
	w.lexicon = newLexicon()
	zipf := rand.NewZipf(w.random, commonWords, 1, vocabulary-1)
	w.counts, w.newest = make([]int32, w.sessions), make([]int64, w.sessions)
	for range w.sessions {
		w.ids = append(w.ids, id.NewSession())
	}
	for m := range w.messages {
		u := w.random.Float64()
		s := int32(float64(w.sessions) * u * u)
		w.counts[s]++
		w.where, w.seqs = append(w.where, s), append(w.seqs, w.counts[s])
		w.newest[s] = w.at(m)
		for range leastWords + w.random.IntN(mostWords-leastWords+1) {
			w.words = append(w.words, uint16(zipf.Uint64()))
		}
		w.ends = append(w.ends, uint32(len(w.words)))
	}
}

// said are the words of a message.
func (w *world) said(message int) []uint16 {
	begin := uint32(0)
	if message > 0 {
		begin = w.ends[message-1]
	}
	return w.words[begin:w.ends[message]]
}

// membersOf are the people of a conversation, the first of all people always.
func (w *world) membersOf(s int) (members []id.User) {
	members = append(members, w.people[0])
	for i, person := range w.people[1:] {
		if every := 1 << (i%6 + 3); s%every == i/6%every { // in an eighth of all, a sixteenth, … down to a 256th
			members = append(members, person)
		}
	}
	return members
}

func (f *filler) fill(ctx context.Context, w *world) error {
	w.imagine()
	for _, step := range []struct {
		table string
		do    func(context.Context, *world) error
	}{
		{"session_members", f.conversations}, {"messages", f.messages}, {"search_blocks", f.blocks}, {"search_postings", f.postings},
	} {
		if err := f.exec(ctx, `BEGIN`); err != nil {
			return err
		}
		if err := f.without(ctx, step.table, func() error { return step.do(ctx, w) }); err != nil {
			return err
		}
		if err := f.exec(ctx, `COMMIT`); err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) conversations(ctx context.Context, w *world) error {
	sessions, err := f.table(ctx, "sessions", "id, type, name, owner_id, created_at", w.sessions)
	if err != nil {
		return err
	}
	counters, err := f.table(ctx, "conversation_counters", "session_id, last_seq, last_place, updated_at", w.sessions)
	if err != nil {
		return err
	}
	members, err := f.table(ctx, "session_members", "session_id, member_id, role, last_read_seq, joined_at", w.sessions)
	if err != nil {
		return err
	}
	intervals, err := f.table(ctx, "member_intervals", "session_id, user_id, from_pos", w.sessions)
	if err != nil {
		return err
	}
	began := w.began.UnixMicro()
	for s, session := range w.ids {
		updated := max(w.newest[s], began)
		if err := sessions.add(ctx, string(session), "group", fmt.Sprintf("conversation %d", s), string(w.people[0]), began); err != nil {
			return err
		}
		if err := counters.add(ctx, string(session), w.counts[s], w.counts[s], updated); err != nil {
			return err
		}
		for i, person := range w.membersOf(s) {
			role := "member"
			if i == 0 {
				role = "owner"
			}
			if err := members.add(ctx, string(session), string(person), role, w.counts[s], began); err != nil {
				return err
			}
			if err := intervals.add(ctx, string(session), string(person), 1); err != nil {
				return err
			}
		}
	}
	for _, t := range []*table{sessions, counters, members, intervals} {
		if err := t.end(ctx); err != nil {
			return err
		}
	}
	return nil
}

// messages writes them in the order in which they were sent, as a hub does.
func (f *filler) messages(ctx context.Context, w *world) error {
	t, err := f.table(ctx, "messages",
		"id, session_id, seq, place, client_msg_id, sender_id, content_type, content, mentions, reply_to, task_ids, created_at, attachments", w.messages)
	if err != nil {
		return err
	}
	for m := range w.messages {
		s := w.where[m]
		content := []byte(`{"text":"`)
		for i, word := range w.said(m) {
			if i > 0 {
				content = append(content, ' ')
			}
			content = append(content, w.lexicon.words[word]...)
		}
		content = append(content, `"}`...)
		sender := w.people[0]
		if all := w.membersOf(int(s)); len(all) > 1 {
			sender = all[m%len(all)]
		}
		err := t.add(ctx, string(id.NewMessage()), string(w.ids[s]), w.seqs[m], w.seqs[m], uuid.NewString(), string(sender), "text", content, "", "", "", w.at(m), "")
		if err != nil {
			return err
		}
	}
	return t.end(ctx)
}
