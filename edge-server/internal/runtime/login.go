package runtime

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// logins remembers the profiles with whose credentials a provider would have nothing to do (S1, auth): what they ask again it refuses again, until
// the credentials change. Those in a file of an agent's own change unseen, so that a run is let through after any change of the profiles, and one each
// askAgain: how it ends decides. It forgets all with this process. Safe for concurrent use; the zero logins is ready.
type logins struct {
	mu      sync.Mutex
	refused map[profile.Name]refusal
}

// askAgain is how long after a refusal, or after a run that was let through, the next run of a profile is.
const askAgain = 5 * time.Minute

// refusal is of these credentials, at a time of which those profiles were in force.
type refusal struct {
	with     credentials
	profiles *profile.Snapshot
	at       time.Time
}

// credentials are a digest of all that an agent of a profile is started with, so that any change of them counts.
type credentials [sha256.Size]byte

// credentialsOf reads the profile as it is now, and the variables of this process that it takes.
func credentialsOf(p profile.Profile, edge profile.Edge) credentials {
	launch := p.Launch(profile.Turn{}, edge)
	sum := sha256.New()
	written := json.NewEncoder(sum)
	for _, part := range []any{p, launch.Argv, launch.Dir} {
		_ = written.Encode(part) // text, numbers and lists of them
	}
	for _, name := range slices.Sorted(maps.Keys(launch.Env)) {
		_ = written.Encode([]string{name, launch.Env[name]})
	}
	return credentials(sum.Sum(nil))
}

// check refuses the start of an agent whose credentials were refused and, as far as that can be seen, are the same. now are the profiles in force.
func (l *logins) check(name profile.Name, with credentials, now *profile.Snapshot) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	refused, known := l.refused[name]
	if !known || refused.with != with {
		return nil
	}
	wait := askAgain - time.Since(refused.at)
	if wait <= 0 || refused.profiles != now {
		l.refused[name] = refusal{with, now, time.Now()} // others wait for what becomes of this one
		return nil
	}
	return fault.New(fault.AuthRequired, "The provider of its model does not accept the credentials of %s. Change them in the profile, in its environment "+
		"or where its program keeps them, and ask again: what changes elsewhere than in a profile or its environment counts within %s.",
		name, wait.Round(time.Second)+time.Second)
}

// login is what a run tells of its credentials.
type login struct {
	logins   *logins
	name     profile.Name
	with     credentials
	profiles *profile.Snapshot   // that it was started with
	last     event.RequestStatus // of the newest request of the run's own agent
}

// hear takes what an agent says.
func (l *login) hear(e run.AgentEvent) {
	f, ok := e.(run.Fact)
	if !ok || f.Type != event.RequestEnd && f.Type != event.AuthStatus {
		return
	}
	var p struct {
		AgentID event.SubAgent `json:"agent_id"`
		Status  string         `json:"status"`
	}
	encoded, err := event.Encode(f.Payload)
	if err != nil || json.Unmarshal(encoded, &p) != nil {
		return
	}
	switch {
	case f.Type == event.AuthStatus && p.Status == event.AuthOK:
		l.last = event.RequestCompleted
		l.accept()
	case f.Type == event.RequestEnd && run.ScopeID(p.AgentID) == "":
		l.last = event.RequestStatus(p.Status)
	}
}

// end draws the conclusion: the last request says whether the credentials are any good.
func (l *login) end() {
	switch l.last {
	case event.RequestAuth:
		l.logins.mu.Lock()
		defer l.logins.mu.Unlock()
		if l.logins.refused == nil {
			l.logins.refused = map[profile.Name]refusal{}
		}
		l.logins.refused[l.name] = refusal{l.with, l.profiles, time.Now()}
	case event.RequestCompleted:
		l.accept()
	}
}

func (l *login) accept() {
	l.logins.mu.Lock()
	defer l.logins.mu.Unlock()
	delete(l.logins.refused, l.name)
}
