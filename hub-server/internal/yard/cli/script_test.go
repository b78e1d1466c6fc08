package cli_test

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/cli"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/testhub"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni/trace"
)

var update = flag.Bool("update", false, "write what the scripts print into them")

// TestMain lets scripts call this program as yard.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"yard": func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		workDir, err := os.Getwd()
		if err != nil {
			panic(err)
		}
		os.Exit(cli.Program{
			In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, WorkDir: workDir, Executable: os.Args[0], Version: "1.2.3",
		}.Run(ctx, os.Args[1:]))
	}})
}

const (
	runID      = "run_9f2c1b7ad0e44c55"
	artifactID = "art_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55"
	report     = "# All is well\n"
	reportSum  = "35f2b97e1dc0820006b8fa5350956474247a6be04150fd7744cf028fdac2dd52"
)

// TestScripts runs what a person would type, against a hub of their own for each script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			h := testhub.New(t)
			prepare(h)
			for name, value := range map[string]string{
				"HUB": h.URL, "YARD_HOME": e.WorkDir + "/yard", "PASSWORD": testhub.Password, "TZ": "UTC",
				"GORACE": "atexit_sleep_ms=0", // under the race detector each program would end a second late
			} {
				e.Setenv(name, value)
			}
			e.Values["hub"] = h
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"hub": changeHub},
	})
}

// prepare gives the hub a run with an artifact.
func prepare(h *testhub.Hub) {
	task := client.AgentTask{
		ID: runID, SessionID: "sess_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55", AgentID: h.Agents[0].ID, State: client.RunStateRunning,
		TraceID: strings.Repeat("a", 32), CreatedAt: time.Now(), StartedAt: time.Now(),
		TriggerMessageID: "msg_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55",
	}
	h.Change(func() {
		h.Tasks = append(h.Tasks, task)
		h.Sessions = append(h.Sessions, client.Session{ID: task.SessionID, Name: "past", UpdatedAt: time.Now()})
		h.Record(task, "run.started", "run.started", `{"started_at":"2026-01-02T03:04:05Z"}`)
		h.Record(task, "message.delta", "run.agent.text_delta", `{"message_id":"m","delta":"<a & b>"}`)
		h.Record(task, "run.completed", "run.finished", `{"n":1.0}`)
		h.Artifacts[runID] = []client.Artifact{{ID: artifactID, RunID: runID, Filename: "report.md", ContentType: "text/markdown", Size: int64(len(report)), Sha256: reportSum}}
		h.Content[artifactID] = report
	})
}

// changeHub is the command `hub` of scripts: what happens at the other end, and waiting for it.
func changeHub(ts *testscript.TestScript, _ bool, args []string) {
	h, ok := ts.Value("hub").(*testhub.Hub)
	if !ok || len(args) == 0 {
		ts.Fatalf("usage: hub archives|fails|deals WHAT|shows FILE PATTERN|forgets|offline [WHY]|damages|connected|cuts|kicks|settled DEVICE|mentions NAME…")
	}
	switch args[0] {
	case "connected":
		wait(ts, h.Connected)
	case "archives":
		h.Change(func() {
			h.Tasks[0].State, h.Tasks[0].LastEventSeq, h.Tasks[0].ArchivedThrough = client.RunStateCompleted, 3, 2
		})
	case "cuts":
		h.Cut()
		wait(ts, func() bool { return !h.Connected() })
	case "kicks":
		h.Publish(client.HubWebSocketFrameTypeDeviceKicked, client.DeviceKickedPayload{Reason: "logged_in_elsewhere"})
	case "settled":
		wait(ts, func() bool {
			cursor, _ := os.ReadFile(ts.MkAbs("yard/devices/" + args[1] + ".cursor"))
			return strings.TrimSpace(string(cursor)) == h.Head()
		})
	case "fails":
		h.Change(func() { h.Run = testhub.Fail })
	case "asks":
		h.Change(func() {
			h.Run = func(h *testhub.Hub, task client.AgentTask) {
				h.Append(task, "run.started", "run.started", `{"started_at":"2026-01-02T03:04:05Z"}`)
				h.Ask(task, "Bash", `{"command":"ls"}`)
			}
		})
	case "inquires":
		h.Change(func() {
			h.Run = func(h *testhub.Hub, task client.AgentTask) {
				h.Append(task, "run.started", "run.started", `{"started_at":"2026-01-02T03:04:05Z"}`)
				h.Inquire(task, event.PromptKind(args[1]), args[2])
			}
		})
	case "asked":
		wait(ts, func() (asked bool) {
			h.Change(func() {
				n := len(h.Prompts)
				if asked = n > 0 && h.Prompts[n-1].State == client.PromptStatePending; asked {
					ts.Setenv("REQUEST", h.Prompts[n-1].RequestID)
				}
			})
			return asked
		})
	case "people":
		h.Change(func() { introduce(h) })
	case "tells":
		h.Change(func() { tell(h) })
	case "mentions":
		if got := mentionedLast(h); !slices.Equal(got, args[1:]) {
			ts.Fatalf("the newest message mentions %q, want %q", got, args[1:])
		}
	case "offers":
		if got := offered(h); !slices.Equal(got, args[1:]) {
			ts.Fatalf("the tools that are offered are %q, want %q", got, args[1:])
		}
	case "deals":
		deal(ts, h, args[1])
	case "shows":
		shows(ts, args[1], args[2])
	case "says":
		speak(ts, h, args[1], args[2])
	case "trims":
		h.Change(func() { h.Floor = "epoch-1" })
	case "forgets":
		h.Change(func() { h.Reset = true })
	case "succeeds":
		h.Change(func() { h.Run = testhub.Succeed })
	case "damages":
		h.Change(func() { h.Content[artifactID] = "# All is wrong\n" })
	case "offline":
		h.Change(func() {
			h.Agents[0].Online, h.WaitsFor = false, strings.Join(args[1:], " ")
			h.Run = func(h *testhub.Hub, task client.AgentTask) {
				time.Sleep(2500 * time.Millisecond) // longer than a person waits without a word
				testhub.Complete(h, task)
			}
		})
	default:
		ts.Fatalf("unknown change %q", args[0])
	}
}

// speak lets a conversation have the OmniMessages of a file too.
func speak(ts *testscript.TestScript, h *testhub.Hub, name, file string) {
	for line, err := range trace.Read(strings.NewReader(ts.ReadFile(file))) {
		if err != nil || line.Err != nil {
			ts.Fatalf("%s:%d: %v %v", file, line.Number, err, line.Err)
		}
		for _, s := range h.Sessions {
			if s.Name == name {
				h.Tell(s.ID, line.Message)
			}
		}
	}
}

// mentionedLast are the names of those whom the newest message of "demo" mentions.
func mentionedLast(h *testhub.Hub) (names []string) {
	h.Change(func() {
		for _, s := range h.Sessions {
			all := h.Messages[s.ID]
			if s.Name != "demo" || len(all) == 0 {
				continue
			}
			for _, m := range s.Members {
				if slices.Contains(all[len(all)-1].Mentions, m.MemberID) {
					names = append(names, m.Name)
				}
			}
		}
	})
	return names
}

// wait polls: what is waited for happens in another process.
func wait(ts *testscript.TestScript, until func() bool) {
	for deadline := time.Now().Add(time.Minute); !until(); {
		if time.Now().After(deadline) {
			ts.Fatalf("waited in vain")
		}
		time.Sleep(time.Millisecond)
	}
}

// introduce lets there be people, one of whom has asked to be a friend.
func introduce(h *testhub.Hub) {
	linus := client.Person{UserID: "user_0190b4c2-0000-7000-8000-000000000002", Username: "linus"}
	h.People = []client.Person{{UserID: "user_0190b4c2-0000-7000-8000-000000000001", Username: "grace"}, linus}
	h.Contacts = []client.Contact{{
		UserID: linus.UserID, Username: linus.Username, RequestID: "req_0123456789abcdef", State: client.ContactStateRequestReceived, Since: time.Now(),
	}}
}

// tell lets the user be told of a request, and of a run that they have heard of already.
func tell(h *testhub.Hub) {
	task := h.Tasks[0]
	h.Sessions[0].Members = []client.SessionMember{{MemberID: task.AgentID, Name: "scout"}}
	h.Notifications = []client.NotificationPayload{
		{ID: "ntf_0190b4c2-0000-7000-8000-000000000002", Type: client.NotificationPayloadTypeFriendRequest, CreatedAt: time.Now(),
			Payload: []byte(`{"request_id":"req_0123456789abcdef","from_user_id":"user_1","to_user_id":"user_2","message":"hi"}`)},
		{ID: "ntf_0190b4c2-0000-7000-8000-000000000001", Type: client.NotificationPayloadTypeAgentDone, CreatedAt: time.Now(), Read: true,
			Payload: []byte(`{"task_id":"` + task.ID + `","session_id":"` + task.SessionID + `","agent_id":"` + task.AgentID + `","state":"completed"}`)},
	}
}
