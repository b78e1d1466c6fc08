package chat

import (
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// AgentMessage is the final text of a run as a message of its agent. It has no number yet.
func AgentMessage(msg id.Message, s id.Session, a id.Agent, run id.Run, text string, at time.Time) (Message, error) {
	type task struct {
		TaskID id.Run `json:"task_id"`
	}
	content, err := encode(struct {
		Text string `json:"text"`
		Task task   `json:"agent_task"`
	}{text, task{run}})
	return Message{
		ID: msg, Session: s, Sender: OfAgent(a), ContentType: Text, Content: content, CreatedAt: at,
	}, err
}
