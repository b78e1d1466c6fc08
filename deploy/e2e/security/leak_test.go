package security

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// leakCanaries is the figure of promise P22. The test agent tells them in eight spellings in turn, five canaries in each.
const leakCanaries = 40

// core is a part of a canary that no spelling but base64 and hex changes, so that it is found whatever surrounds it.
type core string

func newCore() core {
	letters := make([]byte, 14)
	for i := range letters {
		letters[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[rand.IntN(36)]
	}
	return core(letters)
}

// forms are all that can be seen of a core: itself, hex, and what is certain of its base64 in each of three alignments.
func (c core) forms() (forms []string) {
	digits := hex.EncodeToString([]byte(c))
	forms = []string{string(c), digits, strings.ToUpper(digits)}
	for before := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + string(c)))
		forms = append(forms, encoded[4:len(encoded)-4])
	}
	return forms
}

func (c core) in(data []byte) (form string, found bool) {
	for _, form := range c.forms() {
		if bytes.Contains(data, []byte(form)) {
			return form, true
		}
	}
	return "", false
}

// canary is a secret with signs in it that are spelled differently everywhere.
type canary [2]core

func newCanary() canary { return canary{newCore(), newCore()} }

func (c canary) String() string { return fmt.Sprintf(`%s/+"&é %%<%s`, c[0], c[1]) }

// P22, SEC23. Agents tell 40 secrets of their profiles in every spelling, whole and in pieces, as text, reasoning, tools' inputs and outputs,
// errors, artifacts, questions, on stderr and as noise. No place knows one; all of them know what was told beside it and is no secret.
func TestNoSecretOfAProfileIsAnywhereWhateverItsAgentTells(t *testing.T) {
	t.Parallel()
	secrets := make([]canary, leakCanaries)
	for i := range secrets {
		secrets[i] = newCanary()
	}
	open := newCore()
	l := newLeaking(t, secrets, open)
	l.run("talker", client.PromptDecisionDeny)
	l.run("loser", client.PromptDecisionDeny)
	l.run("asker", client.PromptDecisionAllow)
	l.stop()
	known := 0
	for place, data := range l.places {
		for i, secret := range secrets {
			for _, part := range secret {
				if form, leaked := part.in(data); leaked {
					at := bytes.Index(data, []byte(form))
					t.Errorf("secret %d (%s) is at %s: …%q…", i, secret, place, data[max(0, at-60):min(len(data), at+80)])
				}
			}
		}
		if _, found := open.in(data); found {
			known++
		} else if !slices.Contains(wordless(), place) {
			t.Errorf("positive control: what is no secret is not found at %s, in %d bytes", place, len(data))
		}
	}
	t.Logf("figure: P22: %d secrets looked for at %d places; what is no secret is at %d of them", len(secrets), len(l.places), known)
}

// wordless are the places that hold nothing of what agents tell, secret or not.
func wordless() []string {
	return []string{
		"bus", "hub's log", "edge's log", "talker: run", "loser: run", "asker: run",
		"asker: reasoning", // it shows none
		"loser: messages",  // it came to no answer
	}
}
