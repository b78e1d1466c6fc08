package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

func TestWhatIsDoneToAConversation(t *testing.T) {
	inOmniBubble(t, func(t *testing.T, h *omniHub) {
		s, ctx := h.session(), t.Context()
		says := func(key string, status int, body string) {
			h.answers[key] = restAnswer{Status: status, Body: []byte(body)}
		}
		says("POST /steer", 202, `{"steerId":"steer_1"}`)
		says("POST /abort", 202, `{}`)
		says("POST /retry-now", 200, `{"skipped":true}`)
		says("POST /compact", 202, `{"runId":"run_1"}`)
		if id, err := s.Steer(ctx, "slower"); id != "steer_1" || err != nil {
			t.Errorf("%q, %v", id, err)
		}
		if err := s.Withdraw(ctx, "steer_1"); err != nil {
			t.Error(err)
		}
		if err := s.Approve(ctx, "call#2", omni.Deny, "no"); err != nil {
			t.Error(err)
		}
		if was, err := s.Abort(ctx, "enough"); !was || err != nil {
			t.Errorf("%v, %v", was, err)
		}
		says("POST /abort", 204, "")
		if was, err := s.Abort(ctx, "enough"); was || err != nil {
			t.Errorf("%v, %v", was, err)
		}
		if was, err := s.RetryNow(ctx); !was || err != nil {
			t.Errorf("%v, %v", was, err)
		}
		if run, err := s.Compact(ctx); run != "run_1" || err != nil {
			t.Errorf("%s, %v", run, err)
		}
		says("POST /compact", 409, `{"code":"unsupported_by_runtime","detail":"No."}`)
		if _, err := s.Compact(ctx); CodeOf(err) != "unsupported_by_runtime" {
			t.Error(err)
		}
		for key, want := range map[string]string{
			"POST /steer": `{"text":"slower"}`, "DELETE /steer/steer_1": "", "POST /approvals/call#2": `{"decision":"deny","reason":"no"}`, "POST /retry-now": "",
		} {
			if got := h.sent(key); !slices.Equal(got, []string{want}) {
				t.Errorf("%s: sent %q", key, got)
			}
		}
	})
}

func TestHistoryIsReadToItsEnd(t *testing.T) {
	inOmniBubble(t, func(t *testing.T, h *omniHub) {
		for i := range 9 {
			h.say(omni.UserText(fmt.Sprint(i)))
		}
		var lines []string
		cursor, pages := "", 0
		for page, err := range h.session().Messages(t.Context(), "0") {
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range page.Messages {
				lines = append(lines, string(m.Message.Bytes()))
			}
			cursor = page.Cursor
			pages++
		}
		wantLines(t, lines, h.told(0))
		if cursor != h.cursor(9) || pages != 5 {
			t.Errorf("%d pages to %s", pages, cursor)
		}
		h.refuse["GET /messages"] = func() (int, string) { return 404, "not_found" }
		for _, err := range h.session().Messages(t.Context(), "0") {
			if CodeOf(err) != "not_found" {
				t.Error(err)
			}
		}
	})
}

// A proxy's page is no stream; neither is a hub that is busy. Both pass.
func TestAStreamSurvivesWhatIsNone(t *testing.T) {
	inOmniBubble(t, func(t *testing.T, h *omniHub) {
		h.say(omni.UserText("x"))
		turn := 0
		h.refuse["GET /stream"] = func() (int, string) {
			turn++
			return []int{200, 502, 429, 0}[turn-1], "unavailable"
		}
		var seen []string
		for u, err := range h.session().Stream(t.Context(), "0") {
			switch {
			case err != nil:
				t.Fatal(err)
			case u.Link == LinkDown:
				seen = append(seen, "down")
			case u.Link == LinkUp:
				seen = append(seen, "up "+u.Cursor)
			case u.Message != nil:
				seen = append(seen, "message "+u.Cursor)
			}
			if u.State != nil {
				break
			}
		}
		if want := []string{"down", "down", "down", "up 0badcafe-0", "message 0badcafe-1"}; !slices.Equal(seen, want) {
			t.Errorf("%q", seen)
		}
	})
}

func TestServerSentEventsAreRead(t *testing.T) {
	text := ": hello\n\n\nid: a-1\n\r\nevent: server_event\ndata: {\"x\":\ndata: 1}\n\n:ping\n\ndata:no space\nretry: 5\n\nid\ndata: " +
		strings.Repeat("x", 200<<10) + "\n\ndata: cut"
	for name, from := range map[string]io.Reader{"whole": strings.NewReader(text), "in bytes": iotest.OneByteReader(strings.NewReader(text))} {
		heard := 0
		r := newSSEReader(from, func() { heard++ })
		var got []string
		for {
			b, size, err := r.next()
			if err != nil {
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Error(err)
				}
				break
			}
			if size == 0 {
				t.Error("a block without a size")
			}
			got = append(got, fmt.Sprintf("%v %q %q %.20q %d", b.hasID, b.id, b.name, b.data, len(b.data)))
		}
		want := []string{
			`true "a-1" "" "" 0`, `false "" "server_event" "{\"x\":\n1}" 8`, `false "" "" "no space" 8`, fmt.Sprintf(`true "" "" %q %d`, strings.Repeat("x", 20), 200<<10),
		}
		if !slices.Equal(got, want) || heard == 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestABlockIsBounded(t *testing.T) {
	line := "data: " + strings.Repeat("x", 1<<20) + "\n"
	r := newSSEReader(strings.NewReader(strings.Repeat(line, 40)), func() {})
	if _, _, err := r.next(); !errors.Is(err, errBlockTooLarge) {
		t.Error(err)
	}
	whole := "data: " + strings.Repeat("x", omni.MaxBytes) + "\nid: 0badcafe-9007199254740991\n\n"
	if b, _, err := newSSEReader(strings.NewReader(whole), func() {}).next(); err != nil || len(b.data) != omni.MaxBytes {
		t.Error(err)
	}
}

func FuzzServerSentEvents(f *testing.F) {
	f.Add("id: 1\ndata: x\n\n: ping\n\n", 3)
	f.Fuzz(func(t *testing.T, text string, chunk int) {
		read := func(from io.Reader) (all []sseBlock) {
			r := newSSEReader(from, func() {})
			for {
				b, _, err := r.next()
				if err != nil {
					return all
				}
				if !b.said && !b.hasID {
					t.Fatal("a block that says nothing")
				}
				all = append(all, b)
			}
		}
		whole, bytewise := read(strings.NewReader(text)), read(iotest.HalfReader(strings.NewReader(text)))
		if fmt.Sprint(whole) != fmt.Sprint(bytewise) {
			t.Fatalf("%q reads as %v and as %v", text, whole, bytewise)
		}
	})
}

func TestAStreamTellsWhatIsBeside(t *testing.T) {
	inOmniBubble(t, func(t *testing.T, h *omniHub) {
		h.script = func(w http.ResponseWriter) {
			for _, data := range []string{
				`{"type":"task_state","state":"running","runs":["run_1"],"queued":2,"pendingSteering":[{"id":"steer_1","text":"no"}]}`,
				`{"type":"approval_request","toolCall":{"type":"tool_call","name":"bash","arguments":"{}","tool_call_id":"c"},"cut":true,"origin":["run_2"],"requestId":"req_1"}`,
				`{"type":"session_title","title":"T"}`, `{"type":"a_later_one"}`, `{"type":"resync_required","reason":"trimmed"}`,
			} {
				fmt.Fprintf(w, "event: server_event\ndata: %s\n\n", data)
			}
			fmt.Fprint(w, "event: a_later_one\ndata: x\n\n")
		}
		var got []string
		var failed error
		for u, err := range h.session().Stream(t.Context(), "") {
			switch {
			case err != nil:
				failed = err
			case u.State != nil:
				got = append(got, fmt.Sprintf("%s %q %d %v", u.State.State, u.State.Runs, u.State.Queued, u.State.PendingSteering))
			case u.Approval != nil:
				got = append(got, fmt.Sprintf("%+v", *u.Approval))
			case u.Title != nil:
				got = append(got, *u.Title)
			}
		}
		want := []string{`running ["run_1"] 2 [{steer_1 no}]`, "{RequestID:req_1 ToolCall:{Name:bash Arguments:{} ToolCallID:c} Cut:true Origin:[run_2]}", "T"}
		var resync *ResyncError
		if !slices.Equal(got, want) || !errors.As(failed, &resync) || resync.Reason != ResyncTrimmed {
			t.Errorf("%q, %v", got, failed)
		}
		time.Sleep(time.Second)
	})
}
