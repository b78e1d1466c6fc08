package card_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/card"
)

func namesOf(pairs ...string) *card.Names {
	names := new(card.Names)
	for i := 0; i < len(pairs); i += 2 {
		names.Register(pairs[i], pairs[i+1])
	}
	return names
}

func rewrite(names *card.Names, chunks ...string) string {
	var r card.Rewriter
	var out strings.Builder
	for _, chunk := range chunks {
		out.WriteString(r.Write(names, chunk))
	}
	return out.String() + r.Flush(names)
}

func TestMentionsOfArtifactsBecomeLinks(t *testing.T) {
	names := namesOf("intern-schedule-email.md", "art_a1b2", "email.md", "art_2", "年度 报告", "art_3", "a[1].txt", "art_4", "my email.md", "file-5")
	const mail = "[intern-schedule-email.md](artifact://art_a1b2)"
	for text, want := range map[string]string{
		"邮件已经准备好：intern-schedule-email.md":                                 "邮件已经准备好：" + mail,
		"邮件已经准备好：art_a1b2":                                                 "邮件已经准备好：" + mail,
		"邮件已经准备好：[intern-schedule-email.md](artifact://art_a1b2)...":       "邮件已经准备好：" + mail + "...",
		"intern-schedule-email.md":                                         mail,
		"See intern-schedule-email.md. And email.md, (email.md)":           "See " + mail + ". And [email.md](artifact://art_2), ([email.md](artifact://art_2))",
		"in /tmp/email.md, x-email.md, email.md.bak, email.mdx, email.md/": "in /tmp/email.md, x-email.md, email.md.bak, email.mdx, email.md/",
		"wait email.md... and email.md.... or email.md...x":                "wait [email.md](artifact://art_2)... and email.md.... or email.md...x",
		"《年度 报告》年度 报告":                                                     "《[年度 报告](artifact://art_3)》[年度 报告](artifact://art_3)",
		"年度 报告x 年度 报":                                                      "年度 报告x 年度 报",
		"a[1].txt":                                                         `[a\[1\].txt](artifact://art_4)`,
		"my email.md, file-5":                                              "[my email.md](artifact://file-5), file-5",
		"art_9 stays, art_2 not, art_2x stays":                             "art_9 stays, [email.md](artifact://art_2) not, art_2x stays",
		"[the email.md here](https://x.test/a)":                            "[the email.md here](https://x.test/a)",
		"[mail](email.md) ![x](art_2)":                                     "[mail](artifact://art_2) ![x](artifact://art_2)",
		"[mail](./email.md) [email.md] [email.md](":                        "[mail](./email.md) [[email.md](artifact://art_2)] [[email.md](artifact://art_2)](",
		"[a [email.md](b) email.md":                                        "[a [email.md](b) [email.md](artifact://art_2)",
		"[email.md\n](x)":                                                  "[[email.md](artifact://art_2)\n](x)",
		"`email.md` and\n```\nemail.md\n```":                               "`[email.md](artifact://art_2)` and\n```\n[email.md](artifact://art_2)\n```",
		"":                                                                 "",
	} {
		if got := rewrite(names, text); got != want {
			t.Errorf("%q became\n%q, want\n%q", text, got, want)
		}
	}
}

func TestTheLatestArtifactOfANameIsMeant(t *testing.T) {
	names := namesOf("report.md", "art_1", "report.md", "art_2", "final.md", "art_2")
	if got, want := rewrite(names, "report.md art_1 art_2"), "[report.md](artifact://art_2) art_1 [final.md](artifact://art_2)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNamesThatAreNoneAreNotLookedFor(t *testing.T) {
	names := namesOf("an", "art_1", "", "art_2", strings.Repeat("x", 256), "art_3", "two\nlines", "art_4", "good.md", "")
	text := "an " + strings.Repeat("x", 256) + " two\nlines good.md"
	if got := rewrite(names, text); got != text {
		t.Errorf("%q", got)
	}
}

func TestNamesAreLearntFromPayloads(t *testing.T) {
	ref := func(n string) []card.ArtifactRef {
		return []card.ArtifactRef{{ArtifactID: "art_" + n, Name: n + ".md"}}
	}
	names := new(card.Names)
	for _, payload := range []any{
		card.ToolPayload{Artifacts: ref("tool")}, card.AgentPayload{Artifacts: ref("agent")}, card.StepPayload{Artifacts: ref("step")},
		card.ArtifactPayload{ArtifactRef: ref("own")[0]}, card.TurnPayload{},
	} {
		names.Learn(payload)
	}
	for _, n := range []string{"tool", "agent", "step", "own"} {
		if got, want := rewrite(names, n+".md"), fmt.Sprintf("[%s.md](artifact://art_%s)", n, n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestOnlyWhatMayBeANameIsHeldBack(t *testing.T) {
	names := namesOf("report.md", "art_1")
	var r card.Rewriter
	for _, step := range []struct{ chunk, out, held string }{
		{"see rep", "see ", "rep"}, {"ort", "", "report"}, {" or", "report or", ""}, {" report.md", " ", "report.md"}, {".", "", "report.md."},
		{" ", "[report.md](artifact://art_1). ", ""}, {"[x", "", "[x"}, {"] ", "[x] ", ""}, {strings.Repeat("[", 1023), "", strings.Repeat("[", 1023)},
		{"[", "[", strings.Repeat("[", 1023)},
	} {
		if out := r.Write(names, step.chunk); out != step.out || r.Held != step.held {
			t.Fatalf("%q gave %q and holds %q", step.chunk, out, r.Held)
		}
	}
}

func TestAHeldTextComesOutEvenWithoutNames(t *testing.T) {
	r := card.Rewriter{Held: "rep"}
	if got := r.Write(new(card.Names), "ort") + r.Flush(new(card.Names)); got != "report" || r.Held != "" {
		t.Errorf("%q", got)
	}
}

func TestTheNewestNamesAreKept(t *testing.T) {
	names := new(card.Names)
	for i := range 600 {
		names.Register(fmt.Sprintf("n%03d.md", i), fmt.Sprintf("art_%03d", i))
	}
	if got := rewrite(names, "n087.md n088.md n599.md"); got != "n087.md [n088.md](artifact://art_088) [n599.md](artifact://art_599)" {
		t.Error(got)
	}
}

// somewhatNamed draws texts in which names, parts of names, links and neighbours are frequent.
func somewhatNamed() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		piece := rapid.SampledFrom([]string{
			"a.md", "a.md.x", "b a.md", "art_1", "art_12", "报告", "报", "x", " ", ".", "..", "[", "]", "(", ")", "](", "\n", "/", "é", "[a.md](artifact://art_1)", "\\",
		})
		return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
	})
}

func TestHowATextIsCutDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := namesOf("a.md", "art_1", "a.md.x", "art_12", "b a.md", "art_3", "报告", "art_4", "[x]", "art_5")
		text := somewhatNamed().Draw(t, "text")
		var chunks []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			chunks, rest = append(chunks, rest[:n]), rest[n:]
		}
		whole := rewrite(names, text)
		if cut := rewrite(names, chunks...); cut != whole {
			t.Fatalf("%q whole is %q, cut into %q it is %q", text, whole, chunks, cut)
		}
	})
}

func TestACheckpointBetweenChunksDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := namesOf("a.md", "art_1", "报告", "art_4")
		a, b := somewhatNamed().Draw(t, "a"), somewhatNamed().Draw(t, "b")
		var r, restored card.Rewriter
		var known card.Names
		out := r.Write(names, a)
		for from, to := range map[any]any{r: &restored, names: &known} {
			state, err := json.Marshal(from)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(state, to); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := out+restored.Write(&known, b)+restored.Flush(&known), rewrite(names, a+b); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

func TestWhatIsRewrittenStaysAsItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := namesOf("a.md", "art_1", "b a.md", "art_3") // a name that could stand beside a link would become one
		once := rewrite(names, somewhatNamed().Draw(t, "text"))
		if twice := rewrite(names, once); twice != once {
			t.Fatalf("%q became %q", once, twice)
		}
	})
}
