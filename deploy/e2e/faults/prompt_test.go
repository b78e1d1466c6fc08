package faults

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/nemesis"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// promptTurns is how many questions are asked, one after another.
const promptTurns = 50

// answerOnce asks for a permission, lets the clocks jump before it is answered, and expects the tool to be used once each time:
// whoever waits for a person waits, whatever the clocks say.
func answerOnce(t *testing.T, effort nemesis.Effort, c *clocks) {
	t.Helper()
	r := rig.New(t, c.options())
	book := filepath.Join(t.TempDir(), "book")
	asking := rig.Profile("bridge", r.Program("bridgeagent"), "--book", book, "--input", `{"n":1}`)
	r.AddEdge("laptop", map[string]string{worker: asking + "permission: true\n"})
	device := r.Device("a", r.HubURL())
	seen := device.Watch()
	session := device.Group("questions", worker)
	turns := effort.Of(promptTurns)
	for range turns {
		run := device.Run(session, "@"+worker+" go")
		var pending []client.Prompt
		r.Eventually("a question", func() bool {
			list, err := client.Decode[client.PromptList](device.API().ListAgentTaskPrompts(t.Context(), string(run), &client.ListAgentTaskPromptsParams{}))
			pending = list.Items
			return err == nil && len(pending) == 1
		})
		c.jump()
		answered, err := client.Decode[client.Prompt](device.API().AnswerPrompt(t.Context(), pending[0].TaskID, pending[0].RequestID,
			client.PromptAnswerInput{Decision: client.PromptDecisionAllow, Digest: pending[0].Digest}))
		if err != nil || answered.State != client.PromptStateAnswered {
			t.Fatalf("answer: %v, the question is %s", err, answered.State)
		}
		seen.UntilEnded(run)
	}
	figure(t, c.promise("a question"), "%d asked and answered", turns)
	used, err := os.ReadFile(book)
	if lines := strings.Count(string(used), "\n"); err != nil || lines != turns {
		t.Errorf("the tool was used %d times for %d answers (%v)", lines, turns, err)
	}
}
