package talk_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/talk"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/testhub"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// flaky loses the answers of the first requests to a path: the hub has done the work, the client does not know.
type flaky struct {
	next  http.RoundTripper
	path  string
	fails atomic.Int32
}

func (f *flaky) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := f.next.RoundTrip(r)
	if err == nil && strings.HasSuffix(r.URL.Path, f.path) && f.fails.Add(-1) >= 0 {
		resp.Body.Close()
		return nil, errors.New("connection reset")
	}
	return resp, err
}

func talkTo(t *testing.T, h *testhub.Hub, losing string, times int32) talk.Talker {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	f := &flaky{next: transport, path: losing}
	f.fails.Store(times)
	c, err := client.New(client.Options{Hub: h.URL, Transport: f, Keeper: client.NewMemoryKeeper(client.Credentials{
		AccessToken: "access x", RefreshToken: "refresh x", ExpiresAt: time.Now().Add(time.Hour),
	})})
	if err != nil {
		t.Fatal(err)
	}
	return talk.New(c.API())
}

func send(t *testing.T, talker talk.Talker, session, text string) (client.Session, client.MessageReceipt) {
	t.Helper()
	letter, err := talker.Prepare(t.Context(), session, text, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := talker.Deliver(t.Context(), &letter)
	if err != nil {
		t.Fatal(err)
	}
	return letter.Session, receipt
}

func memberNames(s client.Session) []string {
	var names []string
	for _, m := range s.Members {
		names = append(names, m.Name)
	}
	return names
}

func TestAMissingConversationIsMadeWithTheMentionedAgents(t *testing.T) {
	h := testhub.New(t)
	talker := talkTo(t, h, "", 0)
	s, receipt := send(t, talker, "demo", "@scout, what changed?")
	if s.Name != "demo" || !slices.Equal(memberNames(s), []string{"ada", "scout"}) || len(receipt.TaskIds) != 1 {
		t.Fatalf("conversation %+v, receipt %+v", s, receipt)
	}
	again, _ := send(t, talker, "demo", "thank you")
	if again.ID != s.ID {
		t.Errorf("a second conversation: %s", again.ID)
	}
}

func TestAMentionedAgentThatIsNoMemberIsLetIn(t *testing.T) {
	h := testhub.New(t)
	talker := talkTo(t, h, "", 0)
	s, _ := send(t, talker, "demo", "hello")
	send(t, talker, s.ID, "and you, @scout?")
	h.Change(func() {
		if got := memberNames(h.Sessions[0]); !slices.Equal(got, []string{"ada", "scout"}) {
			t.Errorf("members %v", got)
		}
	})
}

func TestALostAnswerDoesNotSendTwice(t *testing.T) {
	for _, path := range []string{"/messages", "/group"} {
		t.Run(path, func(t *testing.T) {
			h := testhub.New(t)
			s, receipt := send(t, talkTo(t, h, path, 2), "demo", "@scout go")
			h.Change(func() {
				if len(h.Messages[s.ID]) != 1 || len(h.Sessions) != 1 || len(receipt.TaskIds) != 1 {
					t.Errorf("%d messages, %d conversations, runs %v", len(h.Messages[s.ID]), len(h.Sessions), receipt.TaskIds)
				}
			})
		})
	}
}

func TestAHubThatNeverAnswersIsGivenUp(t *testing.T) {
	h := testhub.New(t)
	talker := talkTo(t, h, "/messages", 1<<30)
	letter, err := talker.Prepare(t.Context(), "demo", "hello", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := talker.Deliver(ctx, &letter); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("error %v", err)
	}
}

func TestANameThatNobodyHasIsRefusedBeforeAnythingChanges(t *testing.T) {
	h := testhub.New(t)
	talker := talkTo(t, h, "", 0)
	for _, text := range []string{"@scoot go", "hello @scout and @nobody"} {
		_, err := talker.Prepare(t.Context(), "demo", text, nil, false)
		if err == nil || !strings.Contains(err.Error(), "agents here: scout") {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := talker.Prepare(t.Context(), "demo", text, nil, true); err != nil {
			t.Errorf("%q as plain text: %v", text, err)
		}
	}
	if len(h.Sessions) != 0 {
		t.Error("a conversation was made")
	}
}

func TestOnlyAWordOfItsOwnIsAMention(t *testing.T) {
	h := testhub.New(t)
	talker := talkTo(t, h, "", 0)
	for text, want := range map[string]int{
		"mail me at ada@scout.example": 0, "@scout": 1, "(@scout)": 1, "@scout. @scout!": 1, "ask @ noon": 0, "@": 0, "@...": 0, "x @scout-": 1,
	} {
		letter, err := talker.Prepare(t.Context(), "demo", text, nil, false)
		if err != nil || len(letter.Agents) != want {
			t.Errorf("%q: %d agents, %v", text, len(letter.Agents), err)
		}
	}
	send(t, talker, "demo", "hello")
	if letter, err := talker.Prepare(t.Context(), "demo", "@ada look", nil, false); err != nil || len(letter.Agents) != 0 {
		t.Errorf("a person: %+v, %v", letter.Agents, err)
	}
}

func TestNothingToSendIsSaidSo(t *testing.T) {
	h := testhub.New(t)
	if _, err := talkTo(t, h, "", 0).Prepare(t.Context(), "demo", " \n", nil, false); err == nil {
		t.Error("an empty text was taken")
	}
	if _, err := talkTo(t, h, "", 0).Prepare(t.Context(), "sess_nothere", "hello", nil, false); err == nil {
		t.Error("an id that is not there was taken for a name")
	}
}
