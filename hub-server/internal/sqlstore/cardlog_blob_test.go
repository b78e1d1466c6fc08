package sqlstore

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// A message whose text is too large for a row shows it all the same, as far as the conversation does.
func TestCardsShowTheTextOfAMessageThatIsKeptBesideTheLog(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		j.write(t, n.ID, wireStarted, struct{}{})
		const word = "word "
		texts := []string{strings.Repeat(word, 20_000), strings.Repeat(word, 100_000), strings.Repeat(word, 30_000)}
		for _, text := range texts {
			hash := r.put(t, j.edge, []byte(text))
			j.write(t, n.ID, wireSaid, event.MessageCompletedPayload{
				MessageID: id.NewMessage(), ContentBlob: &event.BlobRef{SHA256: string(hash), Size: int64(len(text))}, ContentChecksum: event.TextChecksum(text),
			})
		}
		j.flush(t, r)
		hub := r.teller(cardlog.Cards(card.English))
		shown := textsOf(t, whole(t, hub, opened(t, hub, n.Session).ID, 0, 1<<20))
		if len(shown) != len(texts) {
			t.Fatalf("%d cards of messages have a text", len(shown))
		}
		for i, text := range texts {
			got := shown[i]
			if begins, rest, cut := strings.Cut(got, "\n\n…"); cut != (i == 1) || !strings.HasPrefix(text, begins) || cut && rest == "" || !cut && got != text {
				t.Errorf("of text %d, %d bytes, are shown %d, cut %t, with the end %q", i, len(text), len(got), cut, rest)
			}
		}
	})
}

// textsOf are the texts of the cards of a trace, in the order of the cards.
func textsOf(tb testing.TB, lines string) (texts []string) {
	tb.Helper()
	place := map[string]int{}
	for line := range strings.Lines(lines) {
		e, err := card.Decode([]byte(line))
		if err != nil {
			tb.Fatal(err)
		}
		var p card.AppendPayload
		if e.Type != card.Append || json.Unmarshal(e.Payload, &p) != nil {
			continue
		}
		i, known := place[e.Envelope.CardID]
		if !known {
			i = len(texts)
			place[e.Envelope.CardID], texts = i, append(texts, "")
		}
		texts[i] += p.Chunk
	}
	return texts
}
