package runtime

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// refusedLogins are those of an edge on which a run of the agent was refused just now.
func refusedLogins(profiles *profile.Snapshot) *logins {
	l := &logins{}
	(&login{logins: l, name: "cli", profiles: profiles, last: event.RequestAuth}).end()
	return l
}

func wantCode(t *testing.T, err error, want fault.Code) {
	t.Helper()
	if got := fault.CodeOf(err); got != want {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestWhatAnAgentKeepsForItselfIsTriedAgainAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		profiles := &profile.Snapshot{}
		l := refusedLogins(profiles)
		time.Sleep(askAgain - time.Second)
		wantCode(t, l.check("cli", credentials{}, profiles), fault.AuthRequired)
		time.Sleep(time.Second)
		wantCode(t, l.check("cli", credentials{}, profiles), "")
		wantCode(t, l.check("cli", credentials{}, profiles), fault.AuthRequired) // one is let through, and no more

		time.Sleep(askAgain - time.Second)
		(&login{logins: l, name: "cli", profiles: profiles, last: event.RequestAuth}).end()
		time.Sleep(time.Second)
		wantCode(t, l.check("cli", credentials{}, profiles), fault.AuthRequired)
		time.Sleep(askAgain)
		wantCode(t, l.check("cli", credentials{}, profiles), "")
		(&login{logins: l, name: "cli", profiles: profiles, last: event.RequestCompleted}).end()
		for range 2 {
			wantCode(t, l.check("cli", credentials{}, profiles), "")
		}
	})
}

func TestARunIsLetThroughAfterAChangeOfTheProfiles(t *testing.T) {
	before, after := &profile.Snapshot{}, &profile.Snapshot{Profiles: map[profile.Name]profile.Profile{}}
	l := refusedLogins(before)
	wantCode(t, l.check("cli", credentials{}, before), fault.AuthRequired)
	wantCode(t, l.check("cli", credentials{}, after), "")
	wantCode(t, l.check("cli", credentials{}, after), fault.AuthRequired)
}
