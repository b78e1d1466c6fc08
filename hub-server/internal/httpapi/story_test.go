package httpapi_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// enrolled makes an edge of the client's user that announces the profile scout, and returns its id, its credential and its agent.
func (c *client) enrolled(name string) (edge id.Edge, credential, agent string) {
	h := c.hub
	h.t.Helper()
	token := c.post("/client/edges/enrolments", object{"name": name}).is(201, "").field("token")
	redeemed := h.anonymous().post("/edge/enrol", object{"token": token, "hostname": "box", "version": "1"}).is(201, "")
	edge, credential = id.Edge(redeemed.field("edge_id")), redeemed.field("credential")
	hello := wire.Hello{Version: "1", Hostname: "box", Profiles: []wire.Profile{{Name: "scout", Runtime: "events"}}}
	if err := h.deps.Edges.Announce(h.t.Context(), edge, hello); err != nil {
		h.t.Fatal(err)
	}
	h.online.set(edge, true)
	return edge, credential, c.agent("scout")
}

// agent returns the id of the client's own agent of that name.
func (c *client) agent(name string) string {
	c.hub.t.Helper()
	var list struct {
		Items []struct {
			ID    string `json:"id"`
			Name  string `json:"name"`
			Owner string `json:"owner_id"`
		} `json:"items"`
	}
	c.get("/client/agents").is(200, "").into(&list)
	for _, a := range list.Items {
		if a.Name == name && a.Owner == c.login.User.ID {
			return a.ID
		}
	}
	c.hub.t.Fatalf("no agent %s of %s", name, c.login.User.Name)
	return ""
}

// group opens a conversation with others and returns its address.
func (c *client) group(name string, members ...string) string {
	c.hub.t.Helper()
	s := c.post("/client/sessions/group", object{"name": name, "member_ids": append([]string{}, members...)}).is(201, "")
	return "/client/sessions/" + s.field("id")
}

func text(s string) object {
	return object{"client_msg_id": uuid.NewString(), "content": object{"text": s}}
}

type receipt struct {
	Message string   `json:"message_id"`
	Seq     int      `json:"seq_id"`
	Tasks   []string `json:"task_ids"`
	Again   bool     `json:"deduplicated"`
}

func (a answer) receipt() (r receipt) {
	a.t.Helper()
	a.is(201, "").into(&r)
	return r
}

func TestAPersonMentionsAnAgentAndARunIsDispatched(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	edge, _, scout := ada.enrolled("laptop")
	demo := ada.group("demo", scout)

	sent := ada.post(demo+"/messages", text("@scout what changed here?")).receipt()
	if sent.Seq != 1 || len(sent.Tasks) != 1 || sent.Again {
		t.Fatalf("receipt %+v", sent)
	}
	task := ada.get("/web/agent-tasks/"+sent.Tasks[0]).is(200, "")
	if task.field("state") != "dispatched" || task.field("edge_id") != string(edge) || task.field("trigger_message_id") != sent.Message {
		t.Fatalf("task %s", task.body)
	}
	commands, err := h.deps.Runs.Get(t.Context(), id.Run(sent.Tasks[0]))
	if err != nil || commands.RequestedBy != id.User(ada.login.User.ID) {
		t.Fatalf("run %+v, %v", commands, err)
	}
}
