package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/fanload"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// ours is the hub as people run it: every subscriber is a logged-in device, and what is published is in SQLite, synced, before anybody gets it.
var ours = contestant{name: "the hub", start: bench.startHub}

// listeners is how many people share the subscribers, as their devices.
const listeners = 20

// oursEncrypted is the same over TLS.
var oursEncrypted = contestant{name: "the hub over TLS", start: func(b bench, t *stage, plan *fanload.Plan) { b.hub(t, plan, true) }}

func (b bench) startHub(t *stage, plan *fanload.Plan) { b.hub(t, plan, false) }

func (b bench) hub(t *stage, plan *fanload.Plan, encrypted bool) {
	perPerson := max(1, plan.Subscribers/listeners)
	r := rig.New(t, rig.Options{Bin: b.bin, TLS: encrypted, Env: []string{
		fmt.Sprintf("HUB_SOCKETS_PER_USER=%d", perPerson), "HUB_REQUESTS_PER_MINUTE=10000000", "HUB_SOCKETS_PER_MINUTE=1000000",
	}})
	owner, err := r.Owner().Keeper.Load()
	t.must(err)
	plan.Dialect, plan.Server, plan.PID, plan.Owner, plan.Roots = fanload.Hub, r.HubURL(), r.Hub().PID(), owner, r.Roots()
	for i := 0; len(plan.Tokens) < plan.Subscribers; i++ {
		first, user := r.Invite(fmt.Sprintf("listener%d", i))
		plan.People = append(plan.People, user)
		plan.Tokens = append(plan.Tokens, devices(t, first, min(perPerson, plan.Subscribers-len(plan.Tokens)))...)
	}
	if plan.Work != fanload.Post {
		plan.Enrolment = r.Enrolment("speaker").Token
		return
	}
	session, err := client.Decode[client.Session](r.Owner().API().CreateGroupSession(t.ctx,
		&client.CreateGroupSessionParams{IdempotencyKey: uuid.NewString()}, client.GroupSessionInput{Name: "bench", MemberIds: plan.People}))
	t.must(err)
	plan.Session = session.ID
}

// devices registers so many devices of one person and returns an access token for each. Their logins are real: each has its own refresh family.
func devices(t *stage, of *rig.Device, n int) []string {
	tokens := make([]string, n)
	registering := supervise.NewGroup(t.ctx)
	const atOnce = 8
	for first := range atOnce {
		registering.Go(func(ctx context.Context) error {
			for i := first; i < n; i += atOnce {
				got, err := client.Decode[client.Tokens](of.API().RegisterDevice(ctx, &client.RegisterDeviceParams{IdempotencyKey: uuid.NewString()},
					client.DeviceInput{Name: fmt.Sprintf("device %d", i), Type: client.DeviceTypeMobile}))
				if err != nil {
					return fmt.Errorf("register device: %w", err)
				}
				tokens[i] = got.AccessToken
			}
			return nil
		})
	}
	t.must(registering.Wait())
	return tokens
}
