package conformance_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/conformance"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
)

var update = flag.Bool("update", false, "write the tables of rules in the documents again")

// Marks around the table of rules in a document.
const (
	rulesBegin = "<!-- rules: cd edge-server && go test ./internal/conformance -run Documents -update -->\n"
	rulesEnd   = "<!-- /rules -->"
)

// proof is a test of what the edge does with an agent that breaks a rule, or asks of one that keeps it.
type proof struct{ test, file string }

func (p proof) String() string { return "[`" + p.test + "`](../" + p.file + ")" }

var (
	lines      = proof{"bridge.TestLinesAreClassifiedByTheRules", "shared/bridge/line_test.go"}
	turns      = proof{"bridge.TestTurnsFollowTheRules", "shared/bridge/state_test.go"}
	turnLine   = proof{"bridge.TestTurnLine", "shared/bridge/turn_test.go"}
	anyVersion = proof{"bridge.TestAgentsReadTurnsOfAnyVersion", "shared/bridge/turn_test.go"}
	roundTrip  = proof{"bridge.TestTurnsRoundTripInOneLine", "shared/bridge/turn_test.go"}
	permission = proof{"runtime.TestPermissionRoundTrips", "edge-server/internal/runtime/permission_test.go"}
	unknown    = proof{"agentline.TestWhatIsNoEventSaysWhy", "shared/agentline/agentline_test.go"}
	tools      = proof{"runtime.TestToolsStatesAndFactsArePassedOn", "edge-server/internal/runtime/protocol_test.go"}
)

// proofs are the edge's own tests behind the rules.
func proofs() map[string]proof {
	contract := func(test string) proof {
		return proof{"runtime." + test, "edge-server/internal/runtime/contract_test.go"}
	}
	processes := func(test, file string) proof {
		return proof{"process." + test, "edge-server/internal/process/" + file}
	}
	told := func(test string) proof {
		return proof{"runtime." + test, "edge-server/internal/runtime/control_test.go"}
	}
	chatting := func(test string) proof {
		return proof{"chat." + test, "edge-server/internal/builtin/chat/talk_test.go"}
	}
	return map[string]proof{
		"turn.answers": contract("TestTextReasoningAndSuccessArriveInOrder"), "turn.ends": processes("TestAgentThatNeverEndsIsStopped", "process_test.go"),
		"turn.one-line": permission, "turn.pieces": roundTrip, "turn.unknown-keys": anyVersion, "turn.version-opaque": anyVersion,
		"turn.unicode": contract("TestTurnLineSaysWhatTheAgentIsAsked"), "turn.large": roundTrip, "turn.attachments": turnLine,
		"turn.none": processes("TestAgentThatExitsAtOnceLeavesItsCodeAndStderr", "process_test.go"),

		"stdout.only-events": contract("TestGarbageIsKeptAsOutputAndDisturbsNothing"),
		"line.utf8":          processes("TestGarbageIsReadLineByLine", "process_test.go"), "line.newline": processes("TestLinesOfEveryKind", "line_test.go"),
		"line.length": contract("TestHugeLineIsKeptInPartAndTheStreamGoesOn"),

		"event.closed-vocabulary": lines, "event.type-case": lines, "event.legacy": lines, "event.text": lines, "event.fields": unknown,
		"partial.role": lines, "usage.place": lines, "usage.values": lines, "error.message": turns,
		"result.at-most-one": turns, "error.last": contract("TestErrorFailsTheTurnEvenOnExitZeroAndEndsTheAnswer"),
		"tool.name": tools, "tool.pairs": {"run.TestALogCutAnywhereCanBeClosed", "shared/run/property_test.go"}, "fact.payload": tools,
		"agent.known":    {"run.TestWhateverAnAgentSaysTheLogIsWellFormed", "shared/run/property_test.go"},
		"request.pairs":  {"chat.TestARequestThatFailsIsMadeAgainWithTheWaitsOfS1", "edge-server/internal/builtin/chat/request_test.go"},
		"call.written":   {"omni.TestRichScenarios", "hub-server/internal/project/omni/rich_test.go"},
		"output.shown":   {"omni.TestRichScenarios", "hub-server/internal/project/omni/rich_test.go"},
		"fidelity.fits":  {"runtime.TestFidelityComesOutOfTheEdgeAsItCameIn", "edge-server/internal/runtime/fidelity_test.go"},
		"artifact.there": {"runtime.TestArtifactsAreKeptByPathAndByContent", "edge-server/internal/runtime/protocol_test.go"},

		"session.valid": lines, "session.stable": turns, "session.carried": turns,
		"session.resumes": {"runtime.TestExampleInPythonGoesOnWithItsSession", "edge-server/internal/runtime/examples_test.go"},
		"session.unknown": contract("TestSessionIDIsReportedEvenIfTheTurnFails"),

		"end.said": contract("TestAgentThatExitsAtOnce"), "end.last": tools,
		"exit.says-why":      {"bridge.TestSilentFailuresAreDiagnosed", "shared/bridge/state_test.go"},
		"exit.reserved":      contract("TestTurnLimitCountsBeforeTheAgentsOwnError"),
		"term.ends-in-grace": contract("TestCancelOfAnAgentThatIgnoresItEndsAfterTheGracePeriod"),
		"tree.no-orphans":    processes("TestWhatAnAgentLeavesBehindEndsWithIt", "tree_test.go"),

		"permission.off": permission, "permission.request-id": lines, "permission.id-unique": permission, "permission.tool": lines,
		"permission.input": lines, "permission.allow": permission, "permission.deny": permission, "permission.updated-input": permission,
		"permission.order": {"runtime.TestEachOfSeveralOpenRequestsGetsItsAnswer", "edge-server/internal/runtime/prompt_test.go"},
		"permission.waits": permission, "prompt.fits": {"agentline.TestPromptsThatNobodyCouldAnswerAreTold", "shared/agentline/prompt_test.go"},
		"control.goes-on": told("TestAnAgentHearsWhatItIsToldBetweenItsAnswers"), "compact.turn": told("TestATurnThatOnlyCompacts"),
		"steer.taken":      chatting("TestASteerDuringTheAnswerMakesAnotherRequest"),
		"steer.known":      {"omni.TestScenarios", "hub-server/internal/project/omni/scenario_test.go"},
		"compaction.pairs": chatting("TestACompactionThatFailsLeavesTheConversationAsItIs"),
		"client.offered":   {"runtime.TestCallsThatNobodyCanCarryOutFailAtOnceAndInTheLog", "edge-server/internal/runtime/clienttool_test.go"},
		"client.id-unique": {"runtime.TestAnIDOfACallIsUsedOnce", "edge-server/internal/runtime/clienttool_test.go"},
		"client.result":    {"runtime.TestCallsOfClientsToolsRoundTrip", "edge-server/internal/runtime/clienttool_test.go"},

		"permission.eof": {"runtime.TestTurnLimitTellsTheAgentNoAndLeavesThePersonThePrompt", "edge-server/internal/runtime/prompt_test.go"},
	}
}

func table(t *testing.T, runtime profile.Runtime) string {
	t.Helper()
	breakers := map[string]wrong{}
	for _, w := range wrongAgents(t) {
		for _, rule := range w.breaks {
			if breakers[rule].path == "" || (w.profile.Runtime == runtime && len(w.breaks) == 1) {
				breakers[rule] = w
			}
		}
	}
	known := proofs()
	var b strings.Builder
	b.WriteString("| rule | | what an agent has to keep | from | an agent that breaks it | the edge's side |\n|---|---|---|---|---|---|\n")
	for _, rule := range conformance.Rules(runtime) {
		id := string(rule.ID)
		proof, found := known[id]
		if !found {
			t.Errorf("%s: no test of the edge is named for it", id)
		}
		agent := breakers[id].path
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | [%s](../edge-server/internal/conformance/%s) | %s |\n",
			id, rule.Severity, rule.Sentence, rule.Source, strings.TrimSuffix(filepath.Base(agent), ".sh"), filepath.ToSlash(agent), proof)
	}
	return b.String()
}

func TestDocumentsHaveTheTablesOfRules(t *testing.T) {
	for name, runtime := range map[string]profile.Runtime{"bridge.md": profile.Bridge, "events-runtime.md": profile.Events} {
		path := filepath.Join("..", "..", "..", "docs", name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, found := bytes.Cut(text, []byte(rulesBegin))
		old, after, ended := bytes.Cut(rest, []byte(rulesEnd))
		if !found || !ended {
			t.Fatalf("docs/%s lacks the marks %q and %q", name, rulesBegin, rulesEnd)
		}
		want := table(t, runtime)
		if string(old) == want {
			continue
		}
		if !*update {
			t.Errorf("docs/%s: the table of rules is out of date: %s", name, rulesBegin)
			continue
		}
		if err := os.WriteFile(path, bytes.Join([][]byte{before, []byte(rulesBegin + want + rulesEnd), after}, nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
