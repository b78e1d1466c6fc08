package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

const (
	largeSessions = 100_000
	largePeople   = 13   // one in all conversations, two each in an eighth of them, a sixteenth, … a 256th
	dayShare      = 1000 // of so many messages, one is of the last day
	largeSearches = 60   // of each person
)

// large measures a hub with very many messages of many conversations in its store: how long the newest page of one takes, a search over all that
// somebody may read, and what happened in a day.
func (b bench) large(t *stage) []row {
	if b.messages == 0 {
		b.messages = b.times(10_000_000, 200_000)
	}
	r := rig.New(t, rig.Options{Bin: b.bin, Env: []string{"HUB_REQUESTS_PER_MINUTE=100000000"}})
	people, sessions := b.fillLarge(t, r)
	opened, texts := openAll(t, people[0], sessions)
	day := liveADay(t, people, sessions, texts, b.messages/dayShare)
	searched := map[crowd]spread{}
	var synced spread
	for i, p := range people {
		if i > 0 {
			synced = append(synced, syncAll(t, p, day[i]))
		}
		who := crowdOf(i)
		for range largeSearches {
			searched[who] = append(searched[who], searchOnce(t, p, texts[rand.IntN(len(texts))]))
		}
	}
	of := fmt.Sprintf("%d messages in %d conversations", b.messages, largeSessions)
	shown := func(taken spread) string {
		return fmt.Sprintf("median %s, p99 %s of %d", show(taken.at(0.5)), show(taken.at(0.99)), len(taken))
	}
	what := func(what string, limit time.Duration, taken spread) row {
		return row{of + ": " + what, fmt.Sprintf("p99 < %d ms", limit.Milliseconds()), shown(taken), taken.at(0.99) < limit}
	}
	return []row{
		what("newest page of a conversation", 30*time.Millisecond, opened),
		what("search of 1 to 3 words, by who is in 390 to 1,600 conversations", 200*time.Millisecond, searched[busy]),
		{of + ": the same, by who is in 3,100 to 12,500 conversations", "", shown(searched[everywhere]), true},
		{of + ": the same, by who is in all of them", "", shown(searched[omnipresent]), true},
		what("all changes of a day, by who is in 0.4 to 12 % of the conversations", 300*time.Millisecond, synced),
	}
}

// crowd is how many conversations a person is in.
type crowd uint8

const (
	omnipresent crowd = iota // all
	everywhere               // an eighth to a 32nd
	busy                     // a 64th to a 256th
)

// crowdOf is that of the i-th person: see the program that fills the store.
func crowdOf(i int) crowd {
	switch {
	case i == 0:
		return omnipresent
	case (i-1)%6 < 3:
		return everywhere
	default:
		return busy
	}
}

// fillLarge lets people join and fills the store below them, while the hub is stopped.
func (b bench) fillLarge(t *stage, r *rig.Rig) (people []*rig.Device, sessions []string) {
	t.must(rig.BuildAside(b.bin, "hub-server/internal/cmd/fillstore"))
	me, err := client.Decode[client.Me](r.Owner().API().GetMe(t.ctx))
	t.must(err)
	people, ids := []*rig.Device{r.Owner()}, []string{me.User.ID}
	for i := range largePeople - 1 {
		d, user := r.Invite(fmt.Sprintf("person%d", i))
		people, ids = append(people, d), append(ids, user)
	}
	r.Hub().Stop()
	store := filepath.Join(r.HubHome(), "hub.db")
	start := time.Now()
	fill := exec.CommandContext(t.ctx, filepath.Join(b.bin, "fillstore"), "-store", store, "-messages", fmt.Sprint(b.messages),
		"-sessions", fmt.Sprint(largeSessions), "-people", strings.Join(ids, ","))
	fill.Stderr = os.Stderr // it says how far it is
	filled, err := fill.Output()
	t.must(err)
	size, err := os.Stat(store)
	t.must(err)
	t.Logf("bench: filled in %s, %s", time.Since(start).Round(time.Second), mib(size.Size()))
	r.StartHub()
	return people, strings.Fields(string(filled))
}

// openAll opens conversations as a device does, and returns what is said in them too.
func openAll(t *stage, d *rig.Device, sessions []string) (taken spread, texts []string) {
	for _, s := range sessions {
		start := time.Now()
		page, err := client.Decode[client.MessageList](d.API().ListMessages(t.ctx, s, &client.ListMessagesParams{}))
		t.must(err)
		taken = append(taken, time.Since(start))
		for _, m := range page.Items {
			var said struct {
				Text string `json:"text"`
			}
			t.must(json.Unmarshal(m.Content, &said))
			texts = append(texts, said.Text)
		}
	}
	return taken, texts
}

// liveADay lets everything be said that is said in a day, and returns where each person was before.
func liveADay(t *stage, people []*rig.Device, sessions, texts []string, messages int) (cursors []string) {
	for _, p := range people {
		page, err := client.Decode[client.SyncPage](p.API().SyncChanges(t.ctx, &client.SyncChangesParams{}))
		t.must(err)
		cursors = append(cursors, page.Cursor)
	}
	const speakers = 8
	talking := supervise.NewGroup(t.ctx)
	for i := range speakers {
		talking.Go(func(ctx context.Context) error {
			for n := i; n < messages; n += speakers {
				content, err := json.Marshal(map[string]string{"text": texts[n%len(texts)]})
				if err != nil {
					return err
				}
				said := client.MessageInput{ClientMsgID: uuid.NewString(), Content: content}
				if _, err := client.Decode[client.MessageReceipt](people[0].API().SendMessage(ctx, sessions[n%len(sessions)], said)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	t.must(talking.Wait())
	return cursors
}

// searchOnce looks for some words of a text and returns how long that took.
func searchOnce(t *stage, d *rig.Device, text string) time.Duration {
	words := strings.Fields(text)
	rand.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	q := strings.Join(words[:min(len(words), 1+rand.IntN(3))], " ")
	start := time.Now()
	page, err := client.Decode[client.MessagesFound](d.API().SearchMessages(t.ctx, &client.SearchMessagesParams{Q: q}))
	t.must(err)
	if page.Partial {
		t.Fatalf("the index is not whole")
	}
	return time.Since(start)
}

// syncAll reads everything behind a cursor and returns how long that took.
func syncAll(t *stage, d *rig.Device, cursor string) time.Duration {
	start, most := time.Now(), 500
	for more := true; more; {
		page, err := client.Decode[client.SyncPage](d.API().SyncChanges(t.ctx, &client.SyncChangesParams{Cursor: &cursor, Limit: &most}))
		t.must(err)
		if page.Resume != client.SyncPageResumeReplayed {
			t.Fatalf("a device that was away for a day is told %s", page.Resume)
		}
		cursor, more = page.Cursor, page.More
	}
	return time.Since(start)
}
