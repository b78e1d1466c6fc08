package httpapi_test

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// desk is a place whose run is at work on an edge that takes commands for it.
type desk struct {
	*place
	*reporter
	path string
}

// announce says what the edge can be told.
func (p *place) announce(controls ...string) {
	p.t.Helper()
	hello := wire.Hello{Version: "1", Hostname: "box", Controls: controls != nil, Profiles: []wire.Profile{{Name: "scout", Runtime: "events", Controls: controls}}}
	if err := p.deps.Edges.Announce(p.t.Context(), id.Edge(p.edge), hello); err != nil {
		p.t.Fatal(err)
	}
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	p := newPlace(t)
	p.announce(wire.Controls()...)
	d := &desk{place: p, reporter: p.reporter(), path: "/api/sessions/" + p.session}
	d.begin()
	return d
}

// begin has the run of the place begin, after its edge has taken the start.
func (d *desk) begin() {
	d.t.Helper()
	for _, c := range d.commands() {
		receipt := wire.CommandReceipt{DeliveryID: c.DeliveryID, RunID: c.RunID, Status: wire.Accepted}
		if err := d.lanes.Receipt(d.t.Context(), id.Edge(d.edge), receipt); err != nil {
			d.t.Fatal(err)
		}
	}
	d.say(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
}

func (d *desk) finish() {
	d.t.Helper()
	d.say(event.RunCompleted, event.RunCompletedPayload{})
}

func (d *desk) commands() []wire.Command {
	d.t.Helper()
	commands, err := d.lanes.PendingCommands(d.t.Context(), id.Edge(d.edge))
	if err != nil {
		d.t.Fatal(err)
	}
	return commands
}

// orders are the controls that the edge has not answered.
func (d *desk) orders() (orders []wire.ControlOrder) {
	d.t.Helper()
	for _, c := range d.commands() {
		if c.Kind != wire.Control {
			continue
		}
		order, err := wire.Decode[wire.ControlOrder](c.Body)
		if err != nil {
			d.t.Fatal(err)
		}
		orders = append(orders, order)
	}
	return orders
}

func (d *desk) admit(c *client) {
	d.t.Helper()
	d.ada.post("/client/sessions/"+d.session+"/members", object{"member_id": c.login.User.ID}).is(201, "")
}

// stands is what the conversation is at, as a client is told.
func (d *desk) stands(c *client) (s struct {
	SessionID, Title, State, ApprovalMode string
	Runs                                  []string
	Queued                                int
	PendingSteering                       []struct{ ID, Text string }
	LastActiveAt                          time.Time
}) {
	d.t.Helper()
	c.get(d.path).is(200, "").into(&s)
	return s
}

func said(text string) object { return object{"input": []object{{"type": "text", "text": text}}} }

func TestATaskIsBegunOnceAndNotBesideAnother(t *testing.T) {
	d := newDesk(t)
	if s := d.stands(d.ada); s.State != "running" || !slices.Equal(s.Runs, []string{d.task}) || s.Title != "demo" || s.SessionID != d.session || s.LastActiveAt.IsZero() {
		t.Fatalf("stands %+v", s)
	}
	d.ada.post(d.path+"/tasks", said("go")).is(409, "task_in_progress").sentence("queueIfBusy")
	queued := said("and then this")
	queued["queueIfBusy"] = true
	again := d.ada.with("Idempotency-Key", "key-of-this-task")
	first := again.post(d.path+"/tasks", queued).is(202, "")
	if !strings.Contains(string(first.body), `"queued":true`) || first.field("sessionId") != d.session {
		t.Errorf("receipt %s", first.body)
	}
	d.finish()
	if repeat := again.post(d.path+"/tasks", queued).is(202, ""); string(repeat.body) != string(first.body) {
		t.Errorf("a repeat is answered %s, first %s", repeat.body, first.body)
	}
	again.post(d.path+"/tasks", said("something else")).is(422, "idempotency_conflict")
	if s := d.stands(d.ada); !slices.Equal(s.Runs, []string{first.field("runId")}) {
		t.Errorf("stands %+v", s)
	}
	page := d.ada.messages("/client/sessions/" + d.session + "/messages")
	if last := page.Items[len(page.Items)-1]; last.Content.Text != "and then this" || first.field("messageId") == "" {
		t.Errorf("messages %+v", page.Items)
	}
}

func TestATaskHasImagesAndFiles(t *testing.T) {
	d := newDesk(t)
	d.finish()
	png := "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte("pixels"))
	task := object{"input": []object{
		{"type": "text", "text": "look"}, {"type": "image_url", "imageUrl": png}, {"type": "image_url", "imageUrl": "https://example.com/a.png"},
		{"type": "file", "fileName": "a.txt", "dataUrl": "data:;base64,aGk="}, {"type": "text", "text": "and say"},
	}, "thinkingLevel": "high"}
	d.ada.post(d.path+"/tasks", task).is(202, "")
	commands := d.commands()
	dispatch, err := wire.Decode[wire.Dispatch](commands[len(commands)-1].Body)
	if err != nil {
		t.Fatal(err)
	}
	want := []wire.Attachment{
		{Kind: "image", URL: png, MIMEType: "image/png", Size: 6}, {Kind: "image", URL: "https://example.com/a.png"},
		{Kind: "file", URL: "data:;base64,aGk=", Filename: "a.txt", MIMEType: "text/plain", Size: 2},
	}
	if dispatch.Prompt != "look\n\nand say" || !slices.Equal(dispatch.Attachments, want) || dispatch.ThinkingLevel != "high" {
		t.Errorf("dispatch %+v", dispatch)
	}
}

func TestATaskThatCannotBeMeantBeginsNothing(t *testing.T) {
	d := newDesk(t)
	d.finish()
	part := func(p object) object { return object{"input": []object{p}} }
	files := make([]object, 21)
	for i := range files {
		files[i] = object{"type": "image_url", "imageUrl": "https://example.com/a.png"}
	}
	for name, c := range map[string]struct {
		body   object
		status int
		code   string
	}{
		"no parts":         {object{"input": []object{}}, 400, "empty_prompt"},
		"white space":      {said(" \n"), 400, "empty_prompt"},
		"another type":     {part(object{"type": "sound", "text": "x"}), 400, "invalid_request"},
		"no base64":        {part(object{"type": "image_url", "imageUrl": "data:image/png,pixels"}), 400, "invalid_request"},
		"broken base64":    {part(object{"type": "image_url", "imageUrl": "data:image/png;base64,%%"}), 400, "invalid_request"},
		"no image":         {part(object{"type": "image_url", "imageUrl": "data:text/html;base64,aGk="}), 400, "invalid_request"},
		"a file's address": {part(object{"type": "image_url", "imageUrl": "file:///etc/passwd"}), 400, "invalid_request"},
		"no name":          {part(object{"type": "file", "dataUrl": "data:;base64,aGk="}), 400, "invalid_request"},
		"a path":           {part(object{"type": "file", "fileName": "../a", "dataUrl": "data:;base64,aGk="}), 400, "invalid_request"},
		"too many":         {object{"input": files}, 422, "too_large"},
		"too large": {part(object{"type": "file", "fileName": "a", "dataUrl": "data:;base64," + base64.StdEncoding.EncodeToString(make([]byte, 50_000))}),
			422, "too_large"},
		"another level": {object{"input": said("x")["input"], "thinkingLevel": "deep"}, 400, "invalid_request"},
		"a goal":        {object{"input": said("x")["input"], "goal": object{"budget": 1}}, 409, "unsupported_by_runtime"},
		"another agent": {object{"input": said("x")["input"], "agentId": string(id.NewAgent())}, 400, "agent_unknown"},
	} {
		if a := d.ada.post(d.path+"/tasks", c.body); a.status != c.status || a.code() != c.code {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	nobody := strings.Replace(d.ada.group("nobody"), "/client/", "/api/", 1)
	a := d.ada.post(nobody+"/tasks", said("go")).is(400, "agent_unknown")
	if a.sentence("by its id"); strings.Contains(string(a.body), "agent_id") {
		t.Errorf("it names a field of another operation: %s", a.body)
	}
	d.announce()
	d.ada.post(d.path+"/tasks", object{"input": said("x")["input"], "thinkingLevel": "high"}).is(409, "unsupported_by_runtime").sentence("scout cannot")
	d.ada.with("Idempotency-Key", "").post(d.path+"/tasks", said("go")).is(400, "invalid_request")
	if s := d.stands(d.ada); s.State != "idle" || len(s.Runs) != 0 {
		t.Errorf("stands %+v", s)
	}
}

func TestARunAtWorkIsSteeredOnceForAKey(t *testing.T) {
	d := newDesk(t)
	key := d.ada.with("Idempotency-Key", "key-of-this-steer")
	steer := key.post(d.path+"/steer", object{"text": "shorter"}).is(202, "").field("steerId")
	if again := key.post(d.path+"/steer", object{"text": "shorter"}).is(202, "").field("steerId"); again != steer {
		t.Errorf("steered twice: %s and %s", steer, again)
	}
	d.ada.delete(d.path+"/steer/"+steer).is(204, "")
	d.ada.delete(d.path+"/steer/"+steer).is(204, "")
	sent := d.ada.post(d.path+"/steer", object{"text": "in English"}).is(202, "").field("steerId")
	if orders := d.orders(); len(orders) != 1 || orders[0].Text != "in English" || string(orders[0].SteerID) != sent {
		t.Errorf("orders %+v", orders)
	}
	d.ada.delete(d.path+"/steer/"+sent).is(409, "not_pending").sentence("on its way")
	d.ada.delete(d.path+"/steer/"+string(id.NewSteer())).is(404, "not_found")
	d.ada.post(d.path+"/steer", object{"text": " "}).is(400, "empty_prompt")
	d.ada.post(d.path+"/steer", object{"text": strings.Repeat("x", event.MaxSteer+1)}).is(422, "too_large")
	d.announce()
	d.ada.post(d.path+"/steer", object{"text": "louder"}).is(409, "unsupported_by_runtime").sentence("scout cannot be told anything while it works")
	d.finish()
	d.ada.post(d.path+"/steer", object{"text": "too late"}).is(409, "not_running")
}

func TestATaskIsSteeredBeforeItsAgentHasBegun(t *testing.T) {
	p := newPlace(t)
	p.announce(wire.Controls()...)
	d := &desk{place: p, reporter: p.reporter(), path: "/api/sessions/" + p.session}
	back := d.ada.post(d.path+"/steer", object{"text": "longer"}).is(202, "").field("steerId")
	d.ada.delete(d.path+"/steer/"+back).is(204, "")
	steer := d.ada.post(d.path+"/steer", object{"text": "shorter"}).is(202, "").field("steerId")
	if orders := d.orders(); len(orders) != 1 || string(orders[0].SteerID) != steer || d.commands()[0].Kind != wire.Start {
		t.Errorf("the edge gets %+v", orders)
	}
	if s := d.stands(d.ada); s.Queued != 1 || len(s.PendingSteering) != 1 || s.PendingSteering[0].ID != steer || s.PendingSteering[0].Text != "shorter" {
		t.Errorf("stands %+v", s)
	}
	d.ada.post(d.path+"/retry-now", nil).is(409, "not_running").sentence("has not begun yet")
	d.ada.post(d.path+"/compact", nil).is(409, "task_in_progress")
	d.begin()
	d.say(event.SteerTaken, event.SteerTakenPayload{SteerID: id.Steer(steer)})
	if told := string(d.ada.get(d.path+"/messages").is(200, "").body); strings.Count(told, `[user_steering]\nshorter`) != 1 || strings.Contains(told, "longer") {
		t.Errorf("the stream says %s", told)
	}
	if s := d.stands(d.ada); s.Queued != 0 || len(s.PendingSteering) != 0 {
		t.Errorf("stands %+v", s)
	}
	d.finish()

	d.online.set(id.Edge(d.edge), false)
	d.ada.post(d.path+"/tasks", said("go")).is(202, "")
	d.ada.post(d.path+"/steer", object{"text": "x"}).is(409, "not_running").sentence("has not begun yet")
	d.ada.post(d.path+"/abort", nil).is(202, "")
}

func TestNoMoreThanSoMuchWaitsToBeTaken(t *testing.T) {
	d := newDesk(t)
	for range event.MaxSteers {
		d.ada.post(d.path+"/steer", object{"text": "x"}).is(202, "")
	}
	d.ada.post(d.path+"/steer", object{"text": "x"}).is(422, "too_large").sentence("Wait until it has")
	d.say(event.SteerTaken, event.SteerTakenPayload{SteerID: d.orders()[0].SteerID})
	d.ada.post(d.path+"/steer", object{"text": "x"}).is(202, "")
}

// asks has the agent ask for permission for a call.
func (d *desk) asks(call string) id.Request { return d.asksFor("", call) }

// asksFor has a sub-agent ask, or with "" the agent.
func (d *desk) asksFor(agent event.SubAgent, call string) id.Request {
	d.t.Helper()
	input := json.RawMessage(`{"command":"ls"}`)
	digest, err := event.PromptDigest("Bash", input)
	if err != nil {
		d.t.Fatal(err)
	}
	request := id.NewRequest()
	d.say(event.ToolStarted, event.ToolStartedPayload{ToolCallID: call, ToolName: "Bash", Arguments: input, AgentID: agent})
	d.say(event.PromptRequested, event.PromptRequestedPayload{
		RequestID: request, Kind: event.PromptPermission, ToolName: "Bash", Input: input, ToolCallID: call, AgentRequestID: string(request), Digest: digest,
		Asks: event.Person, AgentID: agent,
	})
	return request
}

func TestAnApprovalIsNamedByItsCallAndTheFirstAnswerCounts(t *testing.T) {
	d := newDesk(t)
	d.asks("call_1")
	approvals := d.path + "/approvals/"
	d.ada.post(approvals+"call_2", object{"decision": "allow"}).is(404, "not_found")
	d.ada.post(approvals+"call_1", object{"decision": "maybe"}).is(400, "invalid_request")
	for range 2 {
		d.ada.post(approvals+"call_1", object{"decision": "deny", "reason": "not now"}).is(204, "")
	}
	d.ada.post(approvals+"call_1", object{"decision": "allow"}).is(409, "already_answered").sentence("deny")
	if c := d.commands(); len(c) != 1 || c[0].Kind != wire.AnswerPrompt || !strings.Contains(string(c[0].Body), "not now") {
		t.Fatalf("commands %+v", c)
	}
	d.say(event.ToolFailed, event.ToolFailedPayload{ToolCallID: "call_1"})
	second := d.asks("call_1") // the agent's ids are not unique: the stream numbers them
	d.ada.post(approvals+"call_1", object{"decision": "allow"}).is(409, "already_answered")
	d.ada.post(approvals+"call_1%232", object{"decision": "allow"}).is(204, "")
	if a := d.ada.get("/web/agent-tasks/"+d.task+"/approvals/"+string(second)).is(200, ""); a.field("state") != "answered" {
		t.Errorf("the second one: %s", a.body)
	}
	third := d.asks("call_3")
	d.ada.post(approvals+string(third), object{"decision": "allow"}).is(204, "")
	d.ada.post(approvals+string(id.NewRequest()), object{"decision": "allow"}).is(404, "not_found")
}

func TestANameThatMayMeanAnotherCallAnswersNone(t *testing.T) {
	d := newDesk(t)
	approvals := d.path + "/approvals/"
	answer := func(named, decision string) answer { return d.ada.post(approvals+named, object{"decision": decision}) }
	of := d.asksFor("sub", "call_1")
	answer("call_1", "allow").is(409, "conflict").sentence("requestId") // nobody asks for the agent's own call_1
	own := d.asks("call_1")
	answer("call_1", "deny").is(204, "")
	answer("call_1", "deny").is(204, "")
	answer("call_1", "allow").is(409, "already_answered")
	if got := d.ada.get("/web/agent-tasks/"+d.task+"/approvals/"+string(of)).is(200, "").field("state"); got != "pending" {
		t.Errorf("the sub-agent's was answered: %s", got)
	}
	if got := d.ada.get("/web/agent-tasks/"+d.task+"/approvals/"+string(own)).is(200, "").field("state"); got != "answered" {
		t.Errorf("the agent's own is %s", got)
	}
	answer(string(of), "allow").is(204, "")
	answer("call_1", "deny").is(409, "conflict") // two were answered
	answer("call_1%232", "deny").is(404, "not_found")
	only := d.asksFor("sub", "call_2")
	answer(string(only), "allow").is(204, "")
	answer("call_2", "allow").is(409, "conflict")
}

func TestSEC14OnlyWhoOperatesTheAgentActsOnItsWork(t *testing.T) {
	d := newDesk(t)
	d.asks("call_1")
	d.admit(d.bob)
	acts := map[string]func(c *client) answer{
		"steer":   func(c *client) answer { return c.post(d.path+"/steer", object{"text": "stop"}) },
		"approve": func(c *client) answer { return c.post(d.path+"/approvals/call_1", object{"decision": "allow"}) },
		"retry":   func(c *client) answer { return c.post(d.path+"/retry-now", nil) },
		"compact": func(c *client) answer { return c.post(d.path+"/compact", nil) },
		"mode":    func(c *client) answer { return c.do("PATCH", d.path, object{"approvalMode": "allow-all"}) },
		"task":    func(c *client) answer { return c.post(d.path+"/tasks", said("go")) },
		"abort":   func(c *client) answer { return c.post(d.path+"/abort", nil) },
	}
	for name, act := range acts {
		if a := act(d.bob); a.status != 403 || a.code() != "agent_operate_required" {
			t.Errorf("%s of a member: %d %s", name, a.status, a.body)
		}
	}
	if s := d.stands(d.bob); s.State != "running" || len(d.commands()) != 0 {
		t.Errorf("stands %+v, commands %+v", s, d.commands())
	}
	d.ada.put("/client/edges/"+d.edge+"/operators/"+d.bob.login.User.ID).is(204, "")
	for _, name := range []string{"steer", "approve", "retry", "compact", "mode", "abort"} { // positive control
		if a := acts[name](d.bob); a.status >= 300 {
			t.Errorf("%s of an operator: %d %s", name, a.status, a.body)
		}
	}
}

func TestAnAbortStopsEverythingOfTheConversation(t *testing.T) {
	d := newDesk(t)
	queued := said("and then this")
	queued["queueIfBusy"] = true
	second := d.ada.post(d.path+"/tasks", queued).is(202, "").field("runId")
	d.ada.post(d.path+"/abort", object{"reason": "Wrong branch."}).is(202, "")
	for _, run := range []string{d.task, second} {
		if state := d.ada.get("/web/agent-tasks/"+run).is(200, "").field("state"); state != "cancelling" && state != "cancelled" {
			t.Errorf("%s is %s", run, state)
		}
	}
	d.ada.post(d.path+"/steer", object{"text": "no"}).is(409, "not_running")
	d.say(event.RunCancelled, event.RunCancelledPayload{})
	for range 8 { // the queued one may have left for its edge, which answers
		if d.stands(d.ada).State == "idle" {
			break
		}
		for _, c := range d.commands() {
			receipt := wire.CommandReceipt{DeliveryID: c.DeliveryID, RunID: c.RunID, Status: wire.Rejected}
			if err := d.lanes.Receipt(t.Context(), id.Edge(d.edge), receipt); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.ada.post(d.path+"/abort", nil).is(204, "")
	if said := string(d.ada.get(d.path+"/messages").is(200, "").body); !strings.Contains(said, `"type":"abort","reason":"Wrong branch."`) {
		t.Errorf("the stream says %s", said)
	}
}

func TestOnlyAWaitIsSkipped(t *testing.T) {
	d := newDesk(t)
	retry := func(skipped bool) {
		t.Helper()
		var got struct{ Skipped bool }
		if d.ada.post(d.path+"/retry-now", nil).is(200, "").into(&got); got.Skipped != skipped {
			t.Errorf("skipped %t, want %t", got.Skipped, skipped)
		}
	}
	retry(false)
	wait := int64(30_000)
	d.say(event.RequestBegin, event.RequestBeginPayload{RequestID: "1"})
	d.say(event.RequestEnd, event.RequestEndPayload{RequestID: "1", Status: "failed", ErrorMessage: "no", Attempt: 1, RetryInMS: &wait})
	retry(true)
	if orders := d.orders(); len(orders) != 1 || orders[0].What != wire.ControlRetryNow {
		t.Errorf("orders %+v", orders)
	}
	d.announce()
	d.ada.post(d.path+"/retry-now", nil).is(409, "unsupported_by_runtime")
	d.finish()
	d.ada.post(d.path+"/retry-now", nil).is(409, "not_running")
}

func TestAContextIsMadeSmallerWhileTheAgentWorksAndWhenItDoesNot(t *testing.T) {
	d := newDesk(t)
	if run := d.ada.post(d.path+"/compact", nil).is(202, "").field("runId"); run != d.task || len(d.orders()) != 1 {
		t.Errorf("run %s, orders %+v", run, d.orders())
	}
	d.ada.post(d.path+"/compact", nil).is(409, "compacting").sentence("scout was told already") // it is on its way
	for _, c := range d.commands() {
		receipt := wire.CommandReceipt{DeliveryID: c.DeliveryID, RunID: c.RunID, Status: wire.Accepted}
		if err := d.lanes.Receipt(t.Context(), id.Edge(d.edge), receipt); err != nil {
			t.Fatal(err)
		}
	}
	d.ada.post(d.path+"/compact", nil).is(409, "compacting") // the agent has it, and has not begun
	d.say(event.CompactionBegin, event.CompactionBeginPayload{Reason: "manual", Mode: "summarize"})
	if s := d.stands(d.ada); s.State != "compacting" {
		t.Errorf("stands %+v", s)
	}
	d.ada.post(d.path+"/compact", nil).is(409, "compacting")
	d.ada.post(d.path+"/tasks", said("go")).is(409, "compacting")
	d.say(event.CompactionEnd, event.CompactionEndPayload{Reason: "manual", Mode: "summarize", Status: "completed"})
	d.ada.post(d.path+"/compact", nil).is(202, "")
	d.finish()

	run := d.ada.post(d.path+"/compact", nil).is(202, "").field("runId")
	d.ada.post(d.path+"/compact", nil).is(409, "task_in_progress")
	commands := d.commands()
	dispatch, err := wire.Decode[wire.Dispatch](commands[len(commands)-1].Body)
	if err != nil || !dispatch.Compact || dispatch.Prompt != "" || string(dispatch.TaskID) != run {
		t.Fatalf("dispatch %+v, %v", dispatch, err)
	}
	d.task = run
	d.begin()
	d.finish()
	d.ada.post(d.path+"/compact", nil).is(409, "already_compacted").sentence("scout")
	d.announce()
	fresh := strings.Replace(d.ada.group("fresh", d.agent), "/client/", "/api/", 1)
	d.ada.post(fresh+"/compact", nil).is(409, "nothing_to_compact")
}

func TestAModeIsNamedAsS1HasIt(t *testing.T) {
	d := newDesk(t)
	for name, mode := range map[string]wire.ApprovalMode{
		"allow-all": wire.AllowAll, "deny-all": wire.DenyAll, "read-only": wire.AllowReadonly, "always-ask": wire.AlwaysAsk,
	} {
		before := len(d.orders())
		if got := d.ada.do("PATCH", d.path, object{"approvalMode": name}).is(200, "").field("approvalMode"); got != name {
			t.Errorf("set %s, told %s", name, got)
		}
		if orders := d.orders(); len(orders) != before+1 || orders[before].Mode != mode || orders[before].What != wire.ControlApprovalMode {
			t.Errorf("%s: orders %+v", name, orders)
		}
	}
	d.admit(d.bob)
	if s := d.stands(d.bob); s.ApprovalMode != "" {
		t.Errorf("bob has ada's mode: %+v", s)
	}
	d.ada.do("PATCH", d.path, object{"approvalMode": "ask"}).is(400, "invalid_request").sentence("always-ask")
	d.ada.do("PATCH", d.path, object{"approvalMode": "deny-all"}).is(200, "")
	for _, nothing := range []object{{}, {"approvalMode": nil}} {
		d.ada.do("PATCH", d.path, nothing).is(400, "invalid_request").sentence("approvalMode is missing")
	}
	if s := d.stands(d.ada); s.ApprovalMode != "deny-all" {
		t.Errorf("nothing was said, and the mode is %q", s.ApprovalMode)
	}
	d.ada.do("PATCH", d.path, object{"approvalMode": ""}).is(200, "")
	if s := d.stands(d.ada); s.ApprovalMode != "" {
		t.Errorf("stands %+v", s)
	}
	d.announce()
	d.ada.do("PATCH", d.path, object{"approvalMode": "deny-all"}).is(409, "unsupported_by_runtime").sentence("scout works on a machine")
}

func TestADissolvedConversationIsNotActedOn(t *testing.T) {
	d := newDesk(t)
	d.ada.post("/client/sessions/"+d.session+"/dissolve", nil).is(200, "")
	d.ada.post(d.path+"/tasks", said("go")).is(410, "session_dissolved")
	d.ada.post(d.path+"/steer", object{"text": "go"}).is(410, "session_dissolved")
	d.ada.post(d.path+"/compact", nil).is(410, "session_dissolved")
	d.ada.post(d.path+"/retry-now", nil).is(410, "session_dissolved")
	d.ada.do("PATCH", d.path, object{"approvalMode": "deny-all"}).is(410, "session_dissolved")
}
