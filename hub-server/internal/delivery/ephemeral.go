package delivery

import "github.com/switchyard-dev/switchyard/shared/id"

// Ephemeral offers a frame that is stored nowhere to the people in a conversation who are attached here, but for one. A stream that is
// busy goes without.
func (t *Tail) Ephemeral(session id.Session, body Body, except id.User) {
	var b batch
	b.add(entry{frames: []Frame{NewFrame(body, "")}})
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.roster.audience(ToSession(session)) {
		if s.member.user != except && !s.offerEphemeral(&b) {
			t.metrics.ephemeralsDropped.Inc()
		}
	}
}

// EphemeralTo offers a frame that is stored nowhere to people who are attached here. It returns those of whom a stream was busy and goes without.
func (t *Tail) EphemeralTo(users []id.User, body Body) (without []id.User) {
	var b batch
	b.add(entry{frames: []Frame{NewFrame(body, "")}})
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, user := range users {
		missed := false
		for _, s := range t.roster.audience(ToUser(user)) {
			if !s.offerEphemeral(&b) {
				t.metrics.ephemeralsDropped.Inc()
				missed = true
			}
		}
		if missed {
			without = append(without, user)
		}
	}
	return without
}
