package apicontract

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

func newCards(t *testing.T) *Cards {
	t.Helper()
	c, err := NewCards(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// examples are the golden messages of shared/card, by file.
func examples(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository(t), "shared", "card", "testdata", folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples in %s: %v", folder, err)
	}
	all := map[string][]byte{}
	for _, file := range files {
		if all[filepath.Base(file)], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestWhatIsSaidAboutCardsIsInTheContract(t *testing.T) {
	c := newCards(t)
	for folder, check := range map[string]func([]byte) error{"events": c.Event, "frames": c.Frame} {
		for name, raw := range examples(t, folder) {
			if err := check(raw); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, object := range []string{`{"type":`, `"payload":{`, `"inner":{`, `"envelope":{`, `"hint":{`, `"metrics":{`, `"error":{`, `"source":{`} {
				more := strings.Replace(string(raw), object, strings.Replace(object, "{", `{"surprise":1,`, 1), 1)
				open := name == "add.unknown.json" && object == `"payload":{` || folder == "frames" && object == `"payload":{`
				if more == string(raw) || open || strings.Contains(more, ",}") {
					continue
				}
				if check([]byte(more)) == nil {
					t.Errorf("%s may have more in %s than the contract says", name, object)
				}
			}
		}
	}
}

func TestEveryWordOfTheCardProtocolHasASchema(t *testing.T) {
	c := newCards(t)
	var frames []string
	for _, f := range []card.ClientFrame{
		card.SessionCreate{}, card.UserMessage{}, card.UserInject{}, card.ToolResult{}, card.PromptResponse{}, card.SessionInterrupt{}, card.SessionResume{},
		card.Ping{}, card.Pong{},
	} {
		line, err := card.EncodeFrame(f, "")
		if err != nil {
			t.Fatal(err)
		}
		_, head, err := read(line)
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, head.Type)
	}
	byKind := []card.Type{card.Add, card.Set} // their payload is the card's
	kinds := []event.PromptKind{event.PromptPermission, event.PromptQuestion, event.PromptPlanReview, event.PromptStepDecision}
	for what, pair := range map[string][2][]string{
		"actions":        {enumOf(t, "CardSocketAction"), words(card.Types())},
		"payloads":       {keys(c.payloads), words(slices.DeleteFunc(card.Types(), func(t card.Type) bool { return slices.Contains(byKind, t) }))},
		"kinds of cards": {keys(c.kinds), words(card.Kinds())},
		"ticks":          {keys(c.inner["card.tick"]), words(card.TickKinds())},
		"prompts":        {keys(c.inner["prompt.user"]), words(kinds)},
		"session events": {keys(c.inner["session.event"]), words(card.SessionKinds())},
		"client frames":  {keys(c.frames), frames},
	} {
		contract, code := sorted(pair[0]), sorted(pair[1])
		if !slices.Equal(contract, code) {
			t.Errorf("%s: the contract lacks %v and has no use for %v", what, without(code, contract), without(contract, code))
		}
	}
}

func keys[V any](m map[string]V) []string { return slices.Collect(maps.Keys(m)) }

func words[T ~string](all []T) (words []string) {
	for _, word := range all {
		words = append(words, string(word))
	}
	return words
}
