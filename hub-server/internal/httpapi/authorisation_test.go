package httpapi_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// foreign asks for something of ada's: % in the path stands for its id.
type foreign struct {
	path           string
	theirs, random string
	body           any
	status         int // 0: 404
}

// ownSide are the operations that act on the caller's own side, whoever it is that their path names.
var ownSide = map[string]string{
	"findPerson":     "everybody may ask for a name; a block hides it: see TestSEC11WhoIsBlockedGetsWhatANobodysNameGets",
	"removeContact":  "takes somebody off the caller's own list",
	"blockContact":   "the caller's own block",
	"unblockContact": "the caller's own block",
}

// foreigners is the table of SEC11 and SEC13: a line for each operation whose path names something.
func (f *full) foreigners() map[string]foreign {
	bob := f.bob.login.User.ID
	ofSession := func(rest string, body any) foreign {
		return foreign{path: "/client/sessions/%" + rest, theirs: f.session, random: string(id.NewSession()), body: body}
	}
	ofMessage := func(rest string, body any) foreign {
		return foreign{path: "/client/messages/%" + rest, theirs: f.message, random: string(id.NewMessage()), body: body}
	}
	ofEdge := func(rest string) foreign {
		return foreign{path: "/client/edges/%" + rest, theirs: f.edge, random: string(id.NewEdge())}
	}
	ofFile := func(rest string) foreign {
		return foreign{path: "/client/attachments/%" + rest, theirs: f.file, random: string(id.NewAttachment())}
	}
	all := map[string]foreign{
		"getSession":            ofSession("", nil),
		"listMessages":          ofSession("/messages", nil),
		"syncMessages":          ofSession("/messages/sync", nil),
		"listMessageChanges":    ofSession("/messages/changes", nil),
		"sendMessage":           ofSession("/messages", text("hi")),
		"createRun":             ofSession("/runs", object{"prompt": "hi"}),
		"markRead":              ofSession("/read", object{"last_read_seq": 1}),
		"addMember":             ofSession("/members", object{"member_id": bob}),
		"removeMember":          ofSession("/members/"+bob, nil),
		"updateSessionInfo":     ofSession("/info", object{"name": "x"}),
		"updateSessionSettings": ofSession("/settings", object{"muted": true}),
		"leaveSession":          ofSession("/leave", nil),
		"transferSession":       ofSession("/transfer-owner", object{"user_id": bob}),
		"dissolveSession":       ofSession("/dissolve", nil),
		"listPins":              ofSession("/pins", nil),
		"listOmniMessages":      {path: "/api/sessions/%/messages", theirs: f.session, random: string(id.NewSession())},
		"streamOmniMessages":    {path: "/api/sessions/%/stream", theirs: f.session, random: string(id.NewSession())},
		"listTraces":            {path: "/api/sessions/%/traces", theirs: f.session, random: string(id.NewSession())},
		"editMessage":           ofMessage("", object{"content": object{"text": "hi"}}),
		"recallMessage":         ofMessage("/recall", nil),
		"forwardMessage":        ofMessage("/forward", object{"to": []object{target(f.bob.group("bob's"))}}),
		"pinMessage":            ofMessage("/pin", nil),
		"unpinMessage":          ofMessage("/pin", nil),
		"listReactions":         ofMessage("/reactions", nil),
		"addReaction":           ofMessage("/reactions", object{"reaction": "👍"}),
		"removeReaction":        ofMessage("/reactions?reaction=x", nil),
		"getEdge":               ofEdge(""),
		"revokeEdge":            ofEdge(""),
		"grantOperator":         ofEdge("/operators/" + bob),
		"revokeOperator":        ofEdge("/operators/" + bob),
		"getAttachment":         ofFile(""),
		"getAttachmentContent":  ofFile("/content"),
		"getAgent":              {path: "/client/agents/%", theirs: f.agent, random: string(id.NewAgent())},
		"revokeDevice":          {path: "/client/devices/%", theirs: f.ada.login.Device.ID, random: string(id.NewDevice())},
		"getArtifact":           {path: "/client/artifacts/%", theirs: f.artifact, random: string(id.NewArtifact())},
		"getArtifactContent":    {path: "/client/artifacts/%/content", theirs: f.artifact, random: string(id.NewArtifact())},
		"acceptContact":         {path: "/client/contacts/requests/%/accept", theirs: f.request, random: string(id.NewRequest())},
		"declineContact":        {path: "/client/contacts/requests/%/decline", theirs: f.request, random: string(id.NewRequest())},
		"readNotification":      {path: "/client/notifications/%/read", theirs: f.notification, random: string(id.NewNotification())},
		"listPushDeliveries": { // of a notification that nobody was sent
			path: "/client/notifications/%/deliveries", theirs: f.notification, random: string(id.NewNotification()), status: http.StatusOK,
		},
	}
	maps.Copy(all, f.foreignRuns())
	maps.Copy(all, f.foreignWork())
	return all
}

func (f *full) foreignWork() map[string]foreign {
	ofSession := func(rest string, body any) foreign {
		return foreign{path: "/api/sessions/%" + rest, theirs: f.session, random: string(id.NewSession()), body: body}
	}
	return map[string]foreign{
		"getOmniSession":     ofSession("", nil),
		"updateOmniSession":  ofSession("", object{"approvalMode": "allow-all"}),
		"createOmniTask":     ofSession("/tasks", object{"input": []object{{"type": "text", "text": "go"}}}),
		"steerOmniTask":      ofSession("/steer", object{"text": "stop"}),
		"withdrawOmniSteer":  ofSession("/steer/"+string(id.NewSteer()), nil),
		"decideOmniApproval": ofSession("/approvals/call", object{"decision": "allow"}),
		"abortOmniTasks":     ofSession("/abort", nil),
		"retryOmniNow":       ofSession("/retry-now", nil),
		"compactOmniSession": ofSession("/compact", nil),
	}
}

func (f *full) foreignRuns() map[string]foreign {
	ofTask := func(rest string, body any) foreign {
		return foreign{path: "/web/agent-tasks/%" + rest, theirs: f.task, random: string(id.NewRun()), body: body}
	}
	question := "/approvals/" + string(id.NewRequest())
	return map[string]foreign{
		"getAgentTask":           ofTask("", nil),
		"cancelAgentTask":        ofTask("/cancel", nil),
		"regenerateAgentTask":    ofTask("/regenerate", nil),
		"listAgentTaskEvents":    ofTask("/events", nil),
		"listAgentTaskPrompts":   ofTask("/approvals", nil),
		"getPrompt":              ofTask(question, nil),
		"answerPrompt":           ofTask(question, object{"decision": "allow"}),
		"listAgentTaskArtifacts": ofTask("/artifacts", nil),
		"followRunEvents":        {path: "/api/agent-runs/%/events", theirs: f.task, random: string(id.NewRun())},
	}
}

func TestSEC11SEC13WhatIsNotYoursOrNotAnyMoreIsNotThere(t *testing.T) {
	f := newFull(t)
	table := f.foreigners()
	covers(t, table, ownSide, func(o operation) bool { return o.names() && !o.open && !o.ofEdges() })
	all := operations(t)
	for who, c := range map[string]*client{"a stranger": f.bob, "who was removed": f.dan} {
		for name, line := range table {
			if !fits(all[name].path, line.path) {
				t.Fatalf("%s is %s, not %s", name, all[name].path, line.path)
			}
			ask := func(what string) string {
				a := c.do(all[name].method, strings.Replace(line.path, "%", what, 1), line.body)
				if line.status == 0 {
					a.is(http.StatusNotFound, "not_found")
					return withoutTrace(t, a)
				}
				return string(a.is(line.status, "").body)
			}
			theirs, random := ask(line.theirs), ask(line.random)
			garbage := random
			if line.status == 0 {
				garbage = ask("x")
			}
			if theirs != random || random != garbage {
				t.Errorf("%s tells %s theirs from nothing:\n%s\n%s\n%s", name, who, theirs, random, garbage)
			}
		}
	}
}

// queries are what lists must be asked with.
var queries = map[string]string{"searchMessages": "?q=go"}

func TestSEC11SEC13ListsHaveNothingOfOthers(t *testing.T) {
	f := newFull(t)
	adas := map[string]string{
		"conversation": f.session, "task": f.task, "agent": f.agent, "edge": f.edge, "device": f.ada.login.Device.ID, "notification": f.notification,
		"request": f.request,
	}
	hers := map[string]bool{}
	for name, op := range operations(t) {
		if op.method != http.MethodGet || op.names() || op.open || op.ofEdges() || slices.Contains(judgeThemselves, name) {
			continue
		}
		path := op.path + queries[name]
		own := string(f.ada.get(path).is(200, "").body)
		for who, c := range map[string]*client{"a stranger": f.bob, "who was removed": f.dan} {
			if c == f.dan && name == "listNotifications" {
				continue // they were told that they were brought in
			}
			body := string(c.get(path).is(200, "").body)
			for what, thing := range adas {
				if strings.Contains(body, thing) {
					t.Errorf("%s shows %s the %s of somebody else: %s", name, who, what, body)
				}
			}
		}
		for what, thing := range adas {
			hers[what] = hers[what] || strings.Contains(own, thing)
		}
	}
	for what := range adas { // positive control
		if !hers[what] {
			t.Errorf("no list shows ada her %s", what)
		}
	}
}

func TestSEC10NothingIsOpenWithoutACredential(t *testing.T) {
	f := newFull(t)
	of := strings.NewReplacer(
		"{session_id}", f.session, "{message_id}", f.message, "{member_id}", f.bob.login.User.ID, "{agent_id}", f.agent, "{edge_id}", f.edge,
		"{user_id}", f.bob.login.User.ID, "{device_id}", f.ada.login.Device.ID, "{task_id}", f.task, "{run_id}", f.task,
		"{request_id}", f.request, "{artifact_id}", f.artifact, "{attachment_id}", f.file, "{notification_id}", f.notification,
		"{username}", "ada", "{steer_id}", string(id.NewSteer()), "{tool_call_id}", "call", "{sha256}", strings.Repeat("0", 64),
	)
	for name, op := range operations(t) {
		if op.open || slices.Contains(judgeThemselves, name) {
			continue
		}
		path := of.Replace(op.path)
		if strings.Contains(path, "{") {
			t.Fatalf("%s: say what %s is", name, path)
		}
		wrong := f.credential // an edge is nobody's user …
		if op.ofEdges() {
			wrong = f.ada.bearer // … and a user is no edge
		}
		for _, c := range []*client{f.anonymous(), f.as("garbage"), f.as(wrong)} {
			a := c.do(op.method, path, nil)
			if a.status != http.StatusUnauthorized || op.method != http.MethodHead && a.code() != "unauthenticated" {
				t.Errorf("%s with %.8q answered %d %s", name, c.bearer, a.status, a.body)
			}
		}
	}
	f.anonymous().get("/no/such/path").is(404, "not_found")
	f.anonymous().do(http.MethodPatch, "/client/sessions/"+f.session, nil).is(404, "not_found")
}

// saying is a request that is in order, but for what a test adds to it.
type saying struct {
	path string
	body object
	open bool // without a credential
}

// sayings is the table of SEC12: a line for each operation that takes JSON.
func (f *full) sayings() map[string]saying {
	demo, bob := "/client/sessions/"+f.session, f.bob.login.User.ID
	token, device := strings.Repeat("a", 43), object{"type": "cli", "name": "x"}
	account := func() object {
		return object{"token": token, "username": "new", "password": password, "device": device}
	}
	return map[string]saying{
		"bootstrapUser":         {path: "/client/auth/bootstrap", body: account(), open: true},
		"registerUser":          {path: "/client/auth/register", body: account(), open: true},
		"login":                 {path: "/client/auth/login", body: credentials("ada", password), open: true},
		"refreshTokens":         {path: "/client/auth/refresh", body: object{"refresh_token": token}, open: true},
		"enrolEdge":             {path: "/edge/enrol", body: object{"token": token, "hostname": "x", "version": "1"}, open: true},
		"registerDevice":        {path: "/client/devices", body: device},
		"putAttention":          {path: "/client/devices/self/attention", body: object{"foreground": true}},
		"registerPush":          {path: selfPush, body: object{"channel": "ntfy", "url": ntfyTopic}},
		"createPrivateSession":  {path: "/client/sessions/private", body: object{"member_id": bob}},
		"createGroupSession":    {path: "/client/sessions/group", body: object{"name": "x"}},
		"addMember":             {path: demo + "/members", body: object{"member_id": bob}},
		"updateSessionInfo":     {path: demo + "/info", body: object{"name": "x"}},
		"updateSessionSettings": {path: demo + "/settings", body: object{"muted": true}},
		"transferSession":       {path: demo + "/transfer-owner", body: object{"user_id": bob}},
		"sendMessage":           {path: demo + "/messages", body: text("hi")},
		"createRun":             {path: demo + "/runs", body: object{"prompt": "x"}},
		"updateOmniSession":     {path: "/api/sessions/" + f.session, body: object{"approvalMode": ""}},
		"createOmniTask":        {path: "/api/sessions/" + f.session + "/tasks", body: object{"input": []object{{"type": "text", "text": "go"}}}},
		"steerOmniTask":         {path: "/api/sessions/" + f.session + "/steer", body: object{"text": "stop"}},
		"decideOmniApproval":    {path: "/api/sessions/" + f.session + "/approvals/call", body: object{"decision": "allow"}},
		"abortOmniTasks":        {path: "/api/sessions/" + f.session + "/abort", body: object{"reason": "enough"}},
		"markRead":              {path: demo + "/read", body: object{"last_read_seq": 1}},
		"editMessage":           {path: "/client/messages/" + f.message, body: object{"content": object{"text": "@scout go on"}}},
		"forwardMessage":        {path: "/client/messages/" + f.message + "/forward", body: object{"to": []object{target(demo)}}},
		"addReaction":           {path: "/client/messages/" + f.message + "/reactions", body: object{"reaction": "x"}},
		"createAgent":           {path: "/client/agents", body: object{"name": "x", "profile": "scout", "runtime": "events"}},
		"createEnrolment":       {path: "/client/edges/enrolments", body: object{"name": "x"}},
		"createAgentTask":       {path: "/web/agent-tasks", body: object{"session_id": f.session, "agent_id": f.agent, "prompt": "x"}},
		"cancelAgentTask":       {path: "/web/agent-tasks/" + f.task + "/cancel", body: object{"force": false}},
		"answerPrompt":          {path: "/web/agent-tasks/" + f.task + "/approvals/" + string(id.NewRequest()), body: object{"decision": "allow"}},
		"requestContact":        {path: "/client/contacts", body: object{"username": "bob"}},
		"readAllNotifications":  {path: "/client/notifications/read", body: object{"up_to": "2026-01-01T00:00:00Z"}},
	}
}

func TestSEC12NobodySetsWhatIsNotTheirsToSet(t *testing.T) {
	f := newFull(t)
	table := f.sayings()
	covers(t, table, nil, func(o operation) bool { return o.json })
	forbidden := object{
		"seq_id": 7, "sender_id": f.bob.login.User.ID, "sender_type": "agent", "role": "admin", "owner_id": f.bob.login.User.ID, "id": "x",
		"created_at": "2020-01-01T00:00:00Z", "task_ids": []string{}, "user_id": f.bob.login.User.ID, "requested_by": f.bob.login.User.ID,
	}
	all := operations(t)
	for name, line := range table {
		op, c := all[name], f.ada
		if !fits(op.path, line.path) || op.open != line.open {
			t.Fatalf("%s is %s, open %t; not %s", name, op.path, op.open, line.path)
		}
		if line.open {
			c = f.anonymous()
		}
		for field, value := range forbidden {
			if slices.Contains(op.fields, field) {
				continue
			}
			forged := object{field: value}
			maps.Copy(forged, line.body)
			if a := c.do(op.method, line.path, forged); a.status != 400 || a.code() != "invalid_request" {
				t.Errorf("%s with %s answered %d %s", name, field, a.status, a.body)
			}
		}
		if a := c.do(op.method, line.path, line.body); a.code() == "invalid_request" { // positive control
			t.Errorf("%s without it answered %d %s", name, a.status, a.body)
		}
	}
}
