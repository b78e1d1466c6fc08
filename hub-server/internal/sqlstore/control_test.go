package sqlstore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// controls are what is told of decisions on their way to the edge: whom, and what.
func (a *asker) controls() (told []string) {
	a.t.Helper()
	rows, err := a.store.Rows(a.t.Context(), 0, 1000)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, row := range rows {
		if row.Kind == delivery.KindFrame && row.FrameType == frameAgentControl {
			told = append(told, fmt.Sprintf("%s %s", row.Audience, row.Payload))
		}
	}
	return told
}

func TestWhoMayOperateIsToldWhatIsOnItsWayToTheEdgeAndNobodyElse(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		bob, carol := id.NewUser(), id.NewUser()
		a.operator(bob)
		a.admit(carol) // reads, and may not operate
		request := a.ask(event.Person, `{"n":1}`)
		for range 2 { // the same answer again is no other decision
			a.must(request, event.Allow)
		}
		payload := fmt.Sprintf(`{"kind":"permission.decide","agent_task_id":%q,"edge_device_id":%q,"approval_id":%q,`+
			`"edge_control":{"runId":%q,"requestId":%q,"decision":"allow"}}`, a.n.ID, a.j.edge, request, a.n.ID, request)
		want := []string{string(delivery.ToUser(a.ada.User)) + " " + payload, string(delivery.ToUser(bob)) + " " + payload}
		slices.Sort(want)
		if got := a.controls(); !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

func TestWhereNoPermissionIsOnItsWayToAnEdgeNobodyIsToldOfOne(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.must(a.inquire(event.PromptQuestion, anything, time.Hour), event.Deny)
		unheard := a.ask(event.Person, `{"n":1}`)
		a.ended(event.EndedUnseen, unheard)
		a.must(unheard, event.Deny)
		if got := a.controls(); len(got) > 0 {
			t.Errorf("told %q", got)
		}
	})
}

func TestSettledQuestionsAboutACallAreThoseOfOneConversation(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		about := func(call string) id.Request {
			t.Helper()
			digest, err := event.PromptDigest("Bash", []byte(`{}`))
			if err != nil {
				t.Fatal(err)
			}
			request := a.write(event.PromptRequestedPayload{
				Kind: event.PromptPermission, ToolName: "Bash", Input: []byte(`{}`), ToolCallID: call, AgentRequestID: call, Digest: digest, Asks: event.Person,
			})
			a.j.flush(t, a.record)
			return request
		}
		settled := func(session id.Session, call string) (requests []id.Request) {
			t.Helper()
			found, err := a.prompts.Settled(t.Context(), session, call)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range found {
				requests = append(requests, p.ID)
			}
			return requests
		}
		first, second := about("call"), about("call")
		a.must(about("other"), event.Allow)
		a.must(first, event.Allow)
		if got := settled(a.n.Session, "call"); !slices.Equal(got, []id.Request{first}) {
			t.Errorf("settled %v, want %s alone", got, first)
		}
		a.must(second, event.Deny)
		if got := settled(a.n.Session, "call"); len(got) != 2 || !slices.Contains(got, first) || !slices.Contains(got, second) {
			t.Errorf("settled %v", got)
		}
		if got := append(settled(id.NewSession(), "call"), settled(a.n.Session, "")...); len(got) > 0 {
			t.Errorf("settled elsewhere, or about no call: %v", got)
		}
	})
}
