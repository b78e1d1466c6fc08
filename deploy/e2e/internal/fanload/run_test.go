package fanload

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// few is a plan for a real hub with few devices of its first user.
func few(t *testing.T, plan Plan) Plan {
	t.Helper()
	r := rig.New(t, rig.Options{Env: []string{"HUB_REQUESTS_PER_MINUTE=10000000", "HUB_SOCKETS_PER_MINUTE=1000000"}})
	owner, err := r.Owner().Keeper.Load()
	if err != nil {
		t.Fatal(err)
	}
	plan.Dialect, plan.Server, plan.PID, plan.Owner, plan.Subscribers = Hub, r.HubURL(), r.Hub().PID(), owner, 6
	for range plan.Subscribers {
		one, err := r.Device("one", r.HubURL()).Keeper.Load()
		if err != nil {
			t.Fatal(err)
		}
		plan.Tokens = append(plan.Tokens, one.AccessToken)
	}
	plan.Enrolment = r.Enrolment("speaker").Token
	session, err := client.Decode[client.Session](r.Owner().API().CreateGroupSession(t.Context(),
		&client.CreateGroupSessionParams{IdempotencyKey: uuid.NewString()}, client.GroupSessionInput{Name: "bench", MemberIds: []string{}}))
	if err != nil {
		t.Fatal(err)
	}
	plan.Session = session.ID
	return plan
}

func TestPlansAreCarriedOutOnARealHub(t *testing.T) {
	for name, plan := range map[string]Plan{
		"flat out":      {Work: Fan, Window: 16},
		"steadily":      {Work: Fan, PerSecond: 100},
		"over HTTP":     {Work: Post, Posters: 4},
		"one at a time": {Work: Post, Posters: 1, PerSecond: 20},
		"they return":   {Work: Return, Returning: 4, Missed: 400, PerSecond: 400},
	} {
		t.Run(name, func(t *testing.T) {
			plan.WarmUp, plan.Span = 200*time.Millisecond, time.Second
			plan = few(t, plan)
			r, err := Run(t.Context(), plan)
			if err != nil {
				t.Fatal(err)
			}
			if r.Published == 0 || r.Delivered == 0 || r.P99 < r.P50 || r.P50 == 0 || r.Span < plan.Span || r.ServerCPU == 0 {
				t.Errorf("saw %+v", r)
			}
			if plan.PerSecond > 0 && (r.Published < int64(plan.PerSecond)/2 || r.Published > 2*int64(plan.PerSecond)) {
				t.Errorf("published %d in a second, want %d", r.Published, plan.PerSecond)
			}
			if plan.Work == Return && (r.Back == 0 || r.P99During == 0) {
				t.Errorf("saw nobody come back: %+v", r)
			}
		})
	}
}
