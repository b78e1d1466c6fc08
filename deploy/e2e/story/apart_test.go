package story

import (
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// Edge and device a are at one hub process, device b and the owner at another; then edge and a move to where b is. Whatever people do, a command, an
// answer or a stop finds its way, and everybody sees the same.
func TestTheWholeStoryIsToldAcrossTwoHubProcesses(t *testing.T) {
	t.Parallel()
	p := bothHubs(t)
	s := &asking{scene: p.scene, book: filepath.Join(t.TempDir(), "book")}
	p.edge = p.AddEdge("laptop", map[string]string{
		"worker":  p.TestAgent("--events", "400", "--rate", "150", "--tools", "--artifact", "report.md", "--truth", p.truth.Path),
		"asker":   askingProfile(p.Program("bridgeagent"), s.book, patient, `{"n":1}`),
		"endless": p.TestAgent("--events", "1000000", "--rate", "50"),
	})
	p.open(p.Proxy.URL(), p.second)
	p.MoveOwner(p.second) // sees the edge only if hubs tell one another
	p.edge.WaitOnline()
	s.session = s.b.Group("apart", "worker", "asker", "endless")

	run := p.beginAtSecond()
	s.seenA.Close()
	s.seenB.UntilEvents(run, 200)
	s.seenA.Reopen()
	s.complete(run)

	question := s.b.Run(s.session, "@asker go")
	s.Eventually("a question", func() bool { return len(s.prompts(question)) == 1 })
	asked := s.prompts(question)[0]
	s.must(asked, allow)
	if again, err := s.answer(s.a, asked, client.PromptAnswerInput{Decision: client.PromptDecisionDeny}); err == nil {
		t.Errorf("a second answer, at the other hub, was taken: %+v", again)
	}
	s.settle(question, client.RunStateCompleted)
	s.expectUsed(`{"n":1}`)

	moved := s.b.Run(s.session, order+" on")
	s.seenA.UntilEvents(moved, 60)
	p.takeOver()
	p.truth.MustEqual("go on", s.settle(moved, client.RunStateCompleted))

	endless := s.b.Run(s.session, "@endless go")
	s.seenA.UntilEvents(endless, 10)
	s.Proxy.Retarget(p.HubURL()[len("http://"):]) // the edge stays, whoever comes anew is at the first hub
	s.seenA.Close()
	s.seenA.Reopen()
	s.seenA.UntilEvents(endless, 20)
	s.cancel(endless)
	s.settle(endless, client.RunStateCancelled)
}
