package sqlstore

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/cardlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/omni/trace"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

const foreignMeta = `{"timestamp":"2026-07-18T07:30:00.000Z","type":"session_meta","payload":{"session_id":%q,"provider":"anthropic","model_id":"fable 5",` +
	`"model_context_window":200000,"system_prompt":"Be brief.","tools":[],"agent_state":"/state","workspace":"/work"}}`

// foreignTrace is what somebody else's program has left: two contexts and a sub-agent, with keys and types that are not ours.
func foreignTrace() string {
	said := func(kind, payload string) string {
		return `{"type": "` + kind + `", "payload": ` + payload + `, "timestamp": "2026-07-18T07:30:01Z"}`
	}
	lines := []string{
		fmt.Sprintf(foreignMeta, "session-2026-07-18-07-30-00-a1b2c3d4"),
		said("model_msg", `{"type":"text","role":"user","text":"列出 <这个> 目录","sender":"user"}`),
		said("event_msg", `{"type":"request_begin"}`),
		said("model_msg", `{"type":"thinking","role":"assistant","thinking":"","fidelity":{"n":1.0,"e":1e400,"s":"\u003c"}}`),
		said("model_msg", `{"type":"text","role":"assistant","text":"Let me look."}`),
		said("model_msg", `{"type":"tool_call","role":"assistant","name":"task","arguments":"{\"a\": 1}","tool_call_id":"c1"}`),
		said("event_msg", `{"type":"request_end","status":"completed"}`),
		said("event_msg", `{"type":"subagent","session_id":"session-2026-07-18-07-30-09-00000001"}`),
		said("event_msg", `{"type":"a_later_one","x":[1,2]}`),
		said("model_msg", `{"type":"tool_call_output","role":"user","output":"Two files.","tool_call_id":"c1"}`),
		fmt.Sprintf(foreignMeta, "session-2026-07-18-07-30-00-a1b2c3d4"),
		said("model_msg", `{"type":"text","role":"user","text":"[context_summary]\nTwo files."}`),
		said("model_msg", `{"type":"text","role":"assistant","text":"There are two zebras."}`),
		fmt.Sprintf(foreignMeta, "session-2026-07-18-07-30-09-00000001"),
		said("model_msg", `{"type":"text","role":"assistant","text":"Found two."}`),
	}
	return strings.Join(lines, "\n") + "\n"
}

// importer is the service over the stores of a town.
func (w *town) importer() *chat.Imports {
	w.t.Helper()
	keys, err := account.OpenKeyring(filepath.Join(w.t.TempDir(), "keys.json"), slog.New(slog.DiscardHandler))
	w.must(err)
	return &chat.Imports{Store: w.chat, Attempts: account.NewAttempts(w.accounts, keys, time.Now), Now: time.Now, Quota: chat.MaxTraceBytes}
}

func (w *town) imported(by account.User, lines string) id.Session {
	w.t.Helper()
	read, err := chat.ReadTrace(strings.NewReader(lines))
	w.must(err)
	session, err := w.importer().Import(w.t.Context(), account.Principal{User: by.ID, Name: by.Name}, chat.NewImport{Lines: read, TraceID: strings.Repeat("a", 32)}, w.claim().Attempt)
	w.must(err)
	return session
}

// filesOf are the traces of a conversation, as its stream gives them in pages of about so many messages.
func (w *town) filesOf(session id.Session, limit int) map[string]string {
	w.t.Helper()
	files := map[string]string{}
	split := trace.NewSplitter(string(session))
	for after, more := omnilog.FromTheBeginning, true; more; {
		page, err := folder(w.store, w.chat.writer, 3, omnilog.Page{Facts: limit, Bytes: limit << 10}).After(w.t.Context(), session, after, limit)
		w.must(err)
		for _, item := range page.Items {
			if record, ok := split.Add(item.Message); ok {
				files[record.File] += string(record.Message.Line())
			}
		}
		after, more = page.UpTo, page.More
	}
	return files
}

func TestAnImportedTraceIsToldOnceOnEachSurface(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		session := w.imported(ada, foreignTrace())
		s, err := w.chat.Session(t.Context(), session, ada.ID)
		w.must(err)
		if !s.ReadOnly || s.Name != "列出 <这个> 目录" || s.Owner != ada.ID || s.Unread != 0 || len(s.Members) != 2 || s.Members[0].Name != "fable-5" {
			t.Errorf("session %+v", s)
		}
		if heard := w.heard(ada.ID); !slices.Equal(heard, []string{"session.created"}) {
			t.Errorf("ada heard %v", heard)
		}
		messages, err := w.chat.After(t.Context(), session, 0, 100)
		w.must(err)
		var said []string
		for _, m := range messages {
			said = append(said, string(m.Sender.Type())+": "+strings.TrimSpace(m.Said()))
		}
		if want := []string{"user: 列出 <这个> 目录", "agent: Let me look.", "agent: There are two zebras."}; !slices.Equal(said, want) {
			t.Errorf("messages are %q, want %q", said, want)
		}

		lines := strings.SplitAfter(foreignTrace(), "\n")
		want := map[string]string{
			"session-2026-07-18-07-30-00-a1b2c3d4_001.jsonl": strings.Join(lines[:10], ""),
			"session-2026-07-18-07-30-00-a1b2c3d4_002.jsonl": strings.Join(lines[10:13], ""),
			"session-2026-07-18-07-30-09-00000001_001.jsonl": strings.Join(lines[13:15], ""),
		}
		files := w.filesOf(session, 4)
		for name, content := range want {
			if files[name] != content {
				t.Errorf("%s is\n%s\nwant\n%s", name, files[name], content)
			}
		}
		if len(files) != len(want) {
			t.Errorf("%d files, want %d", len(files), len(want))
		}
		w.wantCards(session, []string{"列出 <这个> 目录", "Let me look.", "Two files.", "There are two zebras.", "Found two."})
	})
}

func TestAnImportedRunEndsAsItsTraceDid(t *testing.T) {
	eachTown(t, func(w *town) {
		ada := w.person("ada")
		line := func(payload string) string {
			return `{"timestamp":"2026-07-18T07:30:01Z","type":"event_msg","payload":` + payload + "}\n"
		}
		begin, abort := line(`{"type":"request_begin"}`), line(`{"type":"abort","reason":"Enough."}`)
		end := func(status string) string {
			return line(`{"type":"request_end","status":"` + status + `","error_message":"no\u0000pe"}`)
		}
		for trace, want := range map[string]string{
			begin + end("failed") + begin + line(`{"type":"request_end","status":"completed"}`): "completed:",
			begin + end("failed"):          "failed:agent_error no\uFFFDpe",
			begin + end("malformed"):       "failed:agent_error no\uFFFDpe",
			begin + end("timeout"):         "failed:timeout no\uFFFDpe",
			begin + end("auth"):            "failed:auth_required no\uFFFDpe",
			begin + end("aborted"):         "cancelled:",
			begin + end("aborted") + abort: "cancelled:",
			abort:                          "cancelled:",
		} {
			trace = fmt.Sprintf(foreignMeta, "s1") + "\n" + trace
			session := w.imported(ada, trace)
			var got, code, why string
			const query = `SELECT state, error_code, error_message FROM runs WHERE session_id = $1`
			w.must(w.store.readDB.QueryRowContext(w.t.Context(), query, string(session)).Scan(&got, &code, &why))
			if got = got + ":" + strings.TrimSpace(code+" "+why); got != want {
				w.t.Errorf("%s ended as %q, want %q", trace, got, want)
			}
			if files := w.filesOf(session, 4); len(files) != 1 || files["s1_001.jsonl"] != trace {
				w.t.Errorf("the trace is %q, want %q", files, trace)
			}
		}
	})
}

// wantCards wants each text once among the cards of a conversation.
func (w *town) wantCards(session id.Session, texts []string) {
	w.t.Helper()
	logs := cardlog.New(cardlog.Config{
		Store: NewCards(w.store, w.chat.writer), Rules: cardlog.Cards(card.English), Log: slog.New(slog.DiscardHandler),
		Metrics: cardlog.NewMetrics(telemetry.NewRegistry("hub")),
	})
	opened, err := logs.Open(w.t.Context(), session)
	w.must(err)
	frames, err := NewCards(w.store, w.chat.writer).Frames(w.t.Context(), opened.ID, 0, 1<<20)
	w.must(err)
	var all strings.Builder
	for _, f := range frames {
		all.Write(f.Bytes)
	}
	for _, text := range texts {
		if n := strings.Count(all.String(), text); n != 1 {
			w.t.Errorf("cards say %q %d times:\n%s", text, n, all.String())
		}
	}
	if !strings.Contains(all.String(), `"card_kind":"turn"`) || strings.Count(all.String(), `"card.add"`) != strings.Count(all.String(), `"card.close"`) {
		w.t.Errorf("cards are left open:\n%s", all.String())
	}
}

func TestTheSameImportIsDoneOnce(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada, imports := w.person("ada"), w.importer()
		lines, err := chat.ReadTrace(strings.NewReader(foreignTrace()))
		w.must(err)
		by, attempt := account.Principal{User: ada.ID, Name: ada.Name}, account.Attempt{User: ada.ID, Route: "POST /x", Key: "the-same-key"}
		sessions := make([]id.Session, 4)
		for _, err := range together(len(sessions), func(i int) (err error) {
			sessions[i], err = imports.Import(t.Context(), by, chat.NewImport{Lines: lines, TraceID: strings.Repeat("a", 32)}, attempt)
			return err
		}) {
			w.must(err)
		}
		if len(slices.Compact(sessions)) != 1 || sessions[0] == "" {
			t.Errorf("sessions %v", sessions)
		}
		found, _, err := w.chat.Sessions(t.Context(), ada.ID, chat.Filter{Limit: 10})
		w.must(err)
		if len(found) != 1 || found[0].Name != "列出 <这个> 目录" || !found[0].ReadOnly {
			t.Errorf("ada has %+v", found)
		}
	})
}

func TestNothingIsSaidInAnImportedConversation(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		session := w.imported(ada, foreignTrace())
		said, err := w.chat.After(t.Context(), session, 0, 1)
		w.must(err)
		_, _, err = w.chat.Post(t.Context(), chat.Posting{By: ada.ID, Message: chat.Message{
			ID: id.NewMessage(), Session: session, ClientMsgID: "0198", Sender: userOf(ada), ContentType: chat.Text, Content: json.RawMessage(`{"text":"hi"}`),
		}})
		w.wants(fault.ReadOnly, err)
		w.wants(fault.ReadOnly, w.chat.Edit(t.Context(), chat.Edit{
			Change: chat.Change{By: ada.ID, Session: session, Message: said[0].ID}, Content: json.RawMessage(`{"text":"hi"}`),
		}))
		after, err := w.chat.After(t.Context(), session, 0, 100)
		w.must(err)
		if len(after) != 3 || after[0].Said() != said[0].Said() {
			t.Errorf("it says %+v", after)
		}
	})
}

func TestATraceOfManyLinesIsImportedInOneGo(t *testing.T) {
	eachTown(t, func(w *town) {
		var lines strings.Builder
		fmt.Fprintf(&lines, foreignMeta+"\n", "s")
		for i := range 3000 {
			role := []omni.Role{omni.User, omni.Assistant}[i%2]
			fmt.Fprintf(&lines, `{"timestamp":"2026-07-18T07:30:01Z","type":"model_msg","payload":{"type":"text","role":%q,"text":"number %d"}}`+"\n", role, i)
		}
		session := w.imported(w.person("ada"), lines.String())
		if files := w.filesOf(session, 1000); len(files) != 1 || files["s_001.jsonl"] != lines.String() {
			w.t.Errorf("%d files", len(files))
		}
	})
}

func TestImportsCountAmongTheFilesOfAPerson(t *testing.T) {
	eachTown(t, func(w *town) {
		ada, bob, imports := w.person("ada"), w.person("bob"), w.importer()
		lines, err := chat.ReadTrace(strings.NewReader(foreignTrace()))
		w.must(err)
		imports.Quota = int64(2*len(foreignTrace()) + 10)
		brings := func(by account.User) error {
			_, err := imports.Import(w.t.Context(), account.Principal{User: by.ID, Name: by.Name}, chat.NewImport{Lines: lines, TraceID: strings.Repeat("a", 32)}, w.claim().Attempt)
			return err
		}
		w.must(brings(ada))
		w.must(brings(ada))
		w.wants(fault.TooLarge, brings(ada))
		w.must(brings(bob))
		found, _, err := w.chat.Sessions(w.t.Context(), ada.ID, chat.Filter{Limit: 10})
		w.must(err)
		if len(found) != 2 {
			w.t.Errorf("ada has %+v", found)
		}
		file := chat.Attachment{ID: id.NewAttachment(), Owner: ada.ID, Filename: "a", MIMEType: "text/plain", Size: 11, CreatedAt: time.Now()}
		_, err = w.chat.KeepAttachment(w.t.Context(), file, imports.Quota)
		w.wants(fault.TooLarge, err)
	})
}
