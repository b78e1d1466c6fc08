package rig

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"

	"github.com/google/uuid"
)

// Names of the first user.
const (
	Username = "dev"
	Password = "correct horse battery staple"
)

// Device is one device of the first user: an authenticated client with a position of its own.
type Device struct {
	*client.Client
	Name   string
	ID     string // "" of a person's first device
	Keeper *client.MemoryKeeper

	rig *Rig
	at  position
}

// position keeps the cursor as a well-behaved app would, across reconnects. Safe for concurrent use.
type position struct {
	mu     sync.Mutex
	cursor string
}

// LoadCursor returns the newest cursor.
func (p *position) LoadCursor() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cursor, nil
}

// SaveCursor replaces it.
func (p *position) SaveCursor(cursor string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cursor = cursor
	return nil
}

// Cursor is how far the device has come.
func (d *Device) Cursor() string {
	d.at.mu.Lock()
	defer d.at.mu.Unlock()
	return d.at.cursor
}

// SetCursor makes the device believe that it has come so far; "": it keeps no cursor.
func (d *Device) SetCursor(cursor string) {
	d.at.mu.Lock()
	defer d.at.mu.Unlock()
	d.at.cursor = cursor
}

func (r *Rig) device(name, hub string, c client.Credentials) *Device {
	r.T.Helper()
	d := &Device{Name: name, Keeper: client.NewMemoryKeeper(c), rig: r}
	var err error
	if d.Client, err = client.New(client.Options{Hub: hub, Keeper: d.Keeper, UserAgent: "rig", Transport: r.held()}); err != nil {
		r.T.Fatalf("make client: %v", err)
	}
	return d
}

// BootstrapToken reads the token that the hub has left in its folder for the first user.
func (r *Rig) BootstrapToken() string {
	r.T.Helper()
	token, err := os.ReadFile(filepath.Join(r.HubHome(), "bootstrap.token"))
	if err != nil {
		r.T.Fatalf("read bootstrap token: %v", err)
	}
	return strings.TrimSpace(string(token))
}

func (r *Rig) bootstrap() *Device {
	r.T.Helper()
	r.Bootstrap = r.BootstrapToken()
	anonymous, err := client.Anonymous(client.Options{Hub: r.HubURL(), Transport: r.held()})
	if err != nil {
		r.T.Fatalf("make client: %v", err)
	}
	tokens, err := client.Decode[client.Tokens](anonymous.BootstrapUser(r.T.Context(), client.BootstrapInput{
		Token: r.Bootstrap, Username: Username, Password: Password,
		Device: client.DeviceInput{Name: "owner", Type: client.DeviceTypeCli},
	}))
	if err != nil {
		r.T.Fatalf("bootstrap: %v", err)
	}
	return r.device("owner", r.HubURL(), client.CredentialsOf(tokens))
}

// Device registers a new device of the first user. hub is the address it uses: HubURL, or a proxy's.
func (r *Rig) Device(name, hub string) *Device {
	r.T.Helper()
	return r.owner.Another(name, hub)
}

// Another registers a new device of the same user.
func (d *Device) Another(name, hub string) *Device {
	d.rig.T.Helper()
	tokens, err := client.Decode[client.Tokens](d.API().RegisterDevice(d.rig.T.Context(),
		&client.RegisterDeviceParams{IdempotencyKey: uuid.NewString()}, client.DeviceInput{Name: name, Type: client.DeviceTypeCli}))
	if err != nil {
		d.rig.T.Fatalf("register device: %v", err)
	}
	another := d.rig.device(name, hub, client.CredentialsOf(tokens))
	another.ID = tokens.Device.ID
	return another
}

// Invite lets another person join, and returns their first device and their id.
func (r *Rig) Invite(name string) (d *Device, user string) {
	r.T.Helper()
	invitation, err := client.Decode[client.Invitation](r.owner.API().CreateInvitation(r.T.Context(),
		&client.CreateInvitationParams{IdempotencyKey: uuid.NewString()}))
	if err != nil {
		r.T.Fatalf("invite %s: %v", name, err)
	}
	anonymous, err := client.Anonymous(client.Options{Hub: r.HubURL(), Transport: r.held()})
	if err != nil {
		r.T.Fatalf("make client: %v", err)
	}
	tokens, err := client.Decode[client.Tokens](anonymous.RegisterUser(r.T.Context(), client.RegisterInput{
		Token: invitation.Token, Username: name, Password: Password, Device: client.DeviceInput{Name: name, Type: client.DeviceTypeCli},
	}))
	if err != nil {
		r.T.Fatalf("register %s: %v", name, err)
	}
	return r.device(name, r.HubURL(), client.CredentialsOf(tokens)), tokens.User.ID
}

// Group makes a conversation with the named agents, which it waits for. It asks again while the hub is away.
func (d *Device) Group(name string, agents ...string) string {
	d.rig.T.Helper()
	var members []string
	for _, a := range agents {
		members = append(members, d.AgentID(a))
	}
	var s client.Session
	once := &client.CreateGroupSessionParams{IdempotencyKey: uuid.NewString()}
	d.eventually("make conversation", func() (err error) {
		s, err = client.Decode[client.Session](d.API().CreateGroupSession(d.rig.T.Context(), once, client.GroupSessionInput{Name: name, MemberIds: members}))
		return err
	})
	return s.ID
}

// AgentID waits until the hub knows an agent of that name.
func (d *Device) AgentID(name string) string {
	d.rig.T.Helper()
	var found string
	d.rig.Eventually("agent "+name, func() bool {
		list, err := client.Decode[client.AgentList](d.API().ListAgents(d.rig.T.Context()))
		if err != nil {
			return false
		}
		for _, a := range list.Items {
			if a.Name == name {
				found = a.ID
			}
		}
		return found != ""
	})
	return found
}

// eventually asks again while the hub is away, has no room, or has heard too much in too short a time. Any other refusal fails the test.
func (d *Device) eventually(what string, ask func() error) {
	d.rig.T.Helper()
	d.rig.Eventually(what, func() bool {
		err := ask()
		switch code := client.CodeOf(err); code {
		case "", client.ProblemCodeRateLimited, client.ProblemCodeBusy:
		default:
			d.rig.T.Fatalf("%s: %v", what, err)
		}
		return err == nil
	})
}

// Task reads a run's present state. It asks again while the hub is away.
func (d *Device) Task(run id.Run) (task client.AgentTask) {
	d.rig.T.Helper()
	d.eventually("read run", func() (err error) {
		task, err = client.Decode[client.AgentTask](d.API().GetAgentTask(d.rig.T.Context(), string(run)))
		return err
	})
	return task
}

// UntilState waits until a run is in one of the states and returns it.
func (d *Device) UntilState(run id.Run, states ...client.RunState) (task client.AgentTask) {
	d.rig.T.Helper()
	d.rig.Eventually("run is "+join(states), func() bool {
		task = d.Task(run)
		for _, s := range states {
			if task.State == s {
				return true
			}
		}
		return false
	})
	return task
}

func join(states []client.RunState) string {
	words := make([]string, len(states))
	for i, s := range states {
		words[i] = string(s)
	}
	return strings.Join(words, " or ")
}

// Log reads a run's whole log over REST, page by page. It asks again while the hub is away.
func (d *Device) Log(run id.Run) []client.RunEvent {
	d.rig.T.Helper()
	var all []client.RunEvent
	for after := int64(0); ; {
		var page client.RunEventList
		d.eventually("read log", func() (err error) {
			page, err = client.Decode[client.RunEventList](d.API().ListAgentTaskEvents(d.rig.T.Context(), string(run),
				&client.ListAgentTaskEventsParams{AfterSeq: &after}))
			return err
		})
		all = append(all, page.Items...)
		if after = page.Next; after == 0 {
			return all
		}
	}
}
