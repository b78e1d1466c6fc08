package account

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The model: a chain of tokens, each handed out when. At any time only the newest rotates; the one before it replays for 30 s; anything
// else ends the family for good.
func TestSEC7RefreshTokensFollowTheRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1_700_000_000, 0)
		expires, ended := now.Add(FamilyIdle), false
		replaced := []time.Time{{}} // of each token of the chain; the last is the newest
		t.Repeat(map[string]func(*rapid.T){
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(2*ReplayWindow)).Draw(t, "wait")))
			},
			"be set back": func(t *rapid.T) {
				now = now.Add(-time.Duration(rapid.Int64Range(0, int64(2*ReplayWindow)).Draw(t, "back")))
			},
			"sleep": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(FamilyIdle)).Draw(t, "sleep")))
			},
			"present": func(t *rapid.T) {
				i := rapid.IntRange(0, len(replaced)-1).Draw(t, "token")
				got := JudgeRefresh(TokenState{ReplacedAt: replaced[i], FamilyEnded: ended, FamilyExpires: expires}, now)
				want := Theft
				switch {
				case ended || !now.Before(expires):
					want = Refuse
				case i == len(replaced)-1:
					want = Rotate
				case now.Sub(replaced[i]) < ReplayWindow && replaced[i].Sub(now) < ReplayWindow:
					want = Replay
				}
				if got != want {
					t.Fatalf("token %d of %d: verdict %d, want %d", i, len(replaced), got, want)
				}
				switch got {
				case Rotate:
					replaced[i] = now
					replaced = append(replaced, time.Time{})
					expires = now.Add(FamilyIdle)
				case Theft:
					ended = true
				}
			},
		})
	})
}

func TestSuccessorOpensOnlyForTheHolderOfTheTokenBefore(t *testing.T) {
	presented, next := NewToken(RefreshToken), NewToken(RefreshToken)
	sealed, err := sealSuccessor(presented, next)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := openSuccessor(presented, sealed); err != nil || got != next {
		t.Fatalf("open = %q, %v", string(got), err)
	}
	if _, err := openSuccessor(NewToken(RefreshToken), sealed); err == nil {
		t.Fatal("another token opens it")
	}
	sealed[len(sealed)-1] ^= 1
	if _, err := openSuccessor(presented, sealed); err == nil {
		t.Fatal("an altered seal opens")
	}
}

// A stolen token is worth no more to its thief for the hub's clock going back.
func TestSEC7AClockThatGoesBackMakesTheWindowNoLonger(t *testing.T) {
	replaced := time.Unix(1_700_000_000, 0)
	state := TokenState{ReplacedAt: replaced, FamilyExpires: replaced.Add(FamilyIdle)}
	for now, want := range map[time.Time]Verdict{
		replaced.Add(-time.Hour): Theft, replaced.Add(-ReplayWindow): Theft, replaced.Add(-time.Second): Replay, replaced: Replay,
		replaced.Add(ReplayWindow - 1): Replay, replaced.Add(ReplayWindow): Theft,
	} {
		if got := JudgeRefresh(state, now); got != want {
			t.Errorf("presented %s after it was replaced: verdict %d, want %d", now.Sub(replaced), got, want)
		}
	}
}
