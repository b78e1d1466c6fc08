package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"

	"github.com/google/uuid"
)

// Edge is one enrolled machine.
type Edge struct {
	Name  string
	ID    string
	Home  string
	Addr  string // of its local API
	Token string // the enrolment token that it redeemed

	rig     *Rig
	process *Process
}

// enrolPatience is how long an enrolment may take.
const enrolPatience = 20 * time.Second

// Enrolment makes a token that enrols one edge.
func (r *Rig) Enrolment(name string) client.Enrolment {
	r.T.Helper()
	e, err := client.Decode[client.Enrolment](r.owner.API().CreateEnrolment(r.T.Context(),
		&client.CreateEnrolmentParams{IdempotencyKey: uuid.NewString()}, client.EnrolmentInput{Name: name}))
	if err != nil {
		r.T.Fatalf("make enrolment: %v", err)
	}
	return e
}

// AddEdge enrols an edge that reaches the hub through the proxy, starts it and waits until the hub shows it as online. profiles are YAML
// texts by name.
func (r *Rig) AddEdge(name string, profiles map[string]string) *Edge {
	r.T.Helper()
	enrolment := r.Enrolment(name)
	e := &Edge{
		Name: name, ID: enrolment.EdgeID, Token: enrolment.Token, Home: filepath.Join(r.Dir, name), Addr: FreeAddr(r.T), rig: r,
	}
	enrol := Start(r.T, name+" enrol", append(e.env(), "EDGE_ENROL_TOKEN="+e.Token), r.Program("edge-server"), "enrol", "--hub", r.Proxy.URL())
	if code := enrol.Wait(enrolPatience); code != 0 {
		r.T.Fatalf("enrol ended with code %d", code)
	}
	e.writeProfiles(profiles)
	e.Start()
	r.edges = append(r.edges, e)
	e.WaitOnline()
	return e
}

func (e *Edge) env() []string {
	return append([]string{"EDGE_HOME=" + e.Home, "EDGE_ADDR=" + e.Addr, "EDGE_REPOSITORY=" + Root()}, e.rig.opts.EdgeEnv...)
}

func (e *Edge) writeProfiles(profiles map[string]string) {
	e.rig.T.Helper()
	if err := os.MkdirAll(filepath.Join(e.Home, "profiles"), 0o700); err != nil {
		e.rig.T.Fatalf("make profiles: %v", err)
	}
	for name, text := range profiles {
		e.WriteProfile(name, text)
	}
}

// WriteProfile replaces a profile; a running edge takes it in by itself.
func (e *Edge) WriteProfile(name, text string) {
	e.rig.T.Helper()
	if err := os.WriteFile(filepath.Join(e.Home, "profiles", name+".yaml"), []byte(text), 0o600); err != nil {
		e.rig.T.Fatalf("write profile: %v", err)
	}
}

// Start starts the edge on its state.
func (e *Edge) Start() {
	e.rig.T.Helper()
	e.process = Start(e.rig.T, e.Name, e.env(), e.rig.Program("edge-server"))
	e.process.WaitFor("local API listens")
}

// Command starts edge-server as a program that asks this edge.
func (e *Edge) Command(args ...string) *Process {
	e.rig.T.Helper()
	return Start(e.rig.T, e.Name+" "+args[0], e.env(), e.rig.Program("edge-server"), args...)
}

// Process is the running edge process.
func (e *Edge) Process() *Process { return e.process }

// Kill ends the edge with SIGKILL, as a crash would.
func (e *Edge) Kill() { e.process.Kill() }

// WaitOnline returns when the hub shows the edge as online.
func (e *Edge) WaitOnline() {
	e.rig.T.Helper()
	e.WaitState(client.EdgeStateOnline)
}

// WaitState returns when the hub shows the edge in that state.
func (e *Edge) WaitState(state client.EdgeState) {
	e.rig.T.Helper()
	e.rig.Eventually(e.Name+" "+string(state), func() bool {
		edge, err := client.Decode[client.Edge](e.rig.owner.API().GetEdge(e.rig.T.Context(), e.ID))
		return err == nil && edge.State == state
	})
}

// TestAgent is a profile that runs the test agent with the given arguments.
func (r *Rig) TestAgent(args ...string) string {
	return Profile("events", r.Program("testagent"), args...)
}

// Profile is the YAML of a profile that runs a program under a runtime.
func Profile(runtime, program string, args ...string) string {
	var list strings.Builder
	for _, a := range args {
		fmt.Fprintf(&list, "  - %q\n", a)
	}
	return fmt.Sprintf("command: %q\nargs:\n%sruntime: %s\nstreaming: true\ntimeout_secs: 600\n", program, list.String(), runtime)
}

// Controlled is a line for a Profile whose agent can be told everything while it works.
const Controlled = "controls: [steer, retry_now, compact, thinking_level]\n"
