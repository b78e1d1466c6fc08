package omni_test

import (
	"strings"
	"testing"

	omnifold "github.com/switchyard-dev/switchyard/hub-server/internal/project/omni"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

var (
	adas  = omnifold.Run{ID: theRun, Edge: "edge_ada", Agent: "agent_1"}
	bobs  = omnifold.Run{ID: otherRun, Edge: "edge_bob", Agent: "agent_2"}
	child = omnifold.Run{ID: "run_0000000000000003", Parent: theRun, Edge: "edge_bob", Agent: "agent_2"}
)

const (
	speaks    = `{"message_id":"msg_1","content_index":0,"delta":"Hi."}`
	adasStart = `{"started_at":"2026-07-18T07:30:01Z","workDir":"/home/ada"}`
	bobsStart = `{"started_at":"2026-07-18T07:30:01Z","workDir":"/home/bob"}`
	adasInit  = `{"agent_session_id":"s","model":"m-1","provider":"p","system_prompt":"Be ada's.","agent_state":"/home/ada/.agent"}`
	brought   = `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"session_id":"s","workspace":"/brought"}}`
	shrunk    = `{"reason":"context","mode":"summarize"}`
	shrunkEnd = `{"reason":"context","mode":"summarize","status":"completed"}`
)

// metas are the session_metas that a scene tells, with whose machine they are of.
func metas(t *testing.T, s *scene) (all []omni.SessionMetaPayload, edges []id.Edge) {
	t.Helper()
	state := omnifold.New(conversationID)
	for _, f := range s.facts {
		told := state.Apply(f)
		for i, m := range told {
			edge, has := state.Edges()[i]
			if !m.IsSessionMeta() {
				if has {
					t.Errorf("%s is of %s", m.Bytes(), edge)
				}
				continue
			}
			body, err := m.Body()
			if err != nil {
				t.Fatal(err)
			}
			all, edges = append(all, body.(omni.SessionMetaPayload)), append(edges, edge) //nolint:forcetypeassert // it says that it is one
		}
		state = restored(t, state)
	}
	return all, edges
}

// TestEachMetaIsOfTheMachineWhosePathsItHas has metas told with what others have done: a run at another edge, a child there, a person.
func TestEachMetaIsOfTheMachineWhosePathsItHas(t *testing.T) {
	for name, c := range map[string]struct {
		scene      *scene
		workspaces []string
		edges      []id.Edge
	}{
		"with a run beside": {
			new(scene).of(adas, event.RunStarted, adasStart).of(bobs, event.RunStarted, bobsStart).of(bobs, event.MessageDelta, speaks),
			[]string{"/home/ada", "/home/bob"}, []id.Edge{"edge_ada", "edge_bob"},
		},
		"with a child": {
			new(scene).of(adas, event.RunStarted, adasStart).of(child, event.RunStarted, bobsStart).of(child, event.MessageDelta, speaks),
			[]string{"/home/ada", "/home/bob"}, []id.Edge{"edge_ada", "edge_bob"},
		},
		"of a sub-agent": {
			new(scene).of(adas, event.RunStarted, adasStart).of(adas, event.TaskStarted, `{"agent_id":"sub","name":"helper","task_prompt":"Help."}`),
			[]string{"/home/ada", "/home/ada"}, []id.Edge{"edge_ada", "edge_ada"},
		},
		"with what a person says": {
			asks(new(scene).of(adas, event.RunStarted, adasStart).of(adas, event.RunCompleted, `{}`), 65),
			[]string{"/home/ada"}, []id.Edge{"edge_ada"},
		},
		"behind a trace that was brought": {
			new(scene).of(omnifold.Run{ID: "run_0000000000000004"}, event.RunImported, `{"line":"`+strings.ReplaceAll(brought, `"`, `\"`)+`"}`).
				of(adas, event.RunStarted, adasStart).of(adas, event.MessageDelta, speaks),
			[]string{"/brought", "/home/ada"}, []id.Edge{"", "edge_ada"},
		},
		"of nobody": {
			asks(new(scene), 65), []string{""}, []id.Edge{""},
		},
	} {
		told, edges := metas(t, c.scene)
		var workspaces []string
		for _, m := range told {
			workspaces = append(workspaces, m.Workspace)
		}
		same(t, name+": workspaces", workspaces, c.workspaces)
		same(t, name+": edges", edges, c.edges)
	}
}

func asks(s *scene, times int) *scene {
	for range times {
		s.person("Hello?")
	}
	return s
}

func same[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if len(got) != len(want) || got[i] != want[i] {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}

// TestNextContextKnowsNothingOfAnotherAgent has the next context begin in a run of another agent, or at another machine, that says nothing of its model.
func TestNextContextKnowsNothingOfAnotherAgent(t *testing.T) {
	shrinks := func(next omnifold.Run, start string) omni.SessionMetaPayload {
		s := new(scene).of(adas, event.RunStarted, adasStart).of(adas, event.SessionInit, adasInit).of(adas, event.MessageDelta, speaks).
			of(adas, event.CompactionBegin, shrunk).of(adas, event.CompactionEnd, shrunkEnd).of(adas, event.RunCompleted, `{}`)
		told, _ := metas(t, s.of(next, event.RunStarted, start).of(next, event.MessageDelta, speaks))
		if len(told) != 2 {
			t.Fatalf("%d metas, want 2", len(told))
		}
		return told[1]
	}
	again, other, elsewhere := adas, adas, adas
	again.ID, other.ID, elsewhere.ID = otherRun, otherRun, otherRun
	other.Agent, elsewhere.Edge = "agent_2", "edge_bob"
	if m := shrinks(again, adasStart); m.AgentState != "/home/ada/.agent" || m.Provider != "p" || m.ModelID != "m-1" || m.SystemPrompt != "Be ada's." {
		t.Errorf("of the same agent at the same machine: %+v", m)
	}
	for name, next := range map[string]omnifold.Run{"another agent": other, "another machine": elsewhere} {
		m := shrinks(next, bobsStart)
		if m.AgentState != "" || m.Provider != "" || m.ModelID != "" || m.SystemPrompt != "" || m.Workspace != "/home/bob" {
			t.Errorf("of %s: %+v", name, m)
		}
	}
}
