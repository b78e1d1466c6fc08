package redisstate

import (
	"context"
	"encoding/json"

	"github.com/redis/go-redis/v9"

	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// AttentiveTwin is the view of the same that does without Redis.
type AttentiveTwin interface {
	push.Attention
	Run(ctx context.Context) error
}

// Attention knows what people look at: each glance is a key that expires by itself, named by a set per person. What the twin knows counts as well,
// until it has heard otherwise. Safe for concurrent use.
type Attention struct {
	link *Link
	twin AttentiveTwin
}

// NewAttention returns the view of a hub process.
func NewAttention(link *Link, twin AttentiveTwin) *Attention {
	return &Attention{link: link, twin: twin}
}

// Run lets the twin run until ctx ends.
func (a *Attention) Run(ctx context.Context) error { return a.twin.Run(ctx) }

// Look implements push.Attention.
func (a *Attention) Look(ctx context.Context, g push.Glance) {
	a.twin.Look(ctx, g)
	content, err := json.Marshal(g)
	if err != nil {
		return
	}
	keys := a.link.keys
	a.link.do(ctx, commandLimit, func(ctx context.Context) error { //nolint:errcheck // the link has said so, and the device says it again soon
		_, err := a.link.client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Set(ctx, keys.glance(g.Device), content, push.LooksFor)
			pipe.SAdd(ctx, keys.glances(g.User), string(g.Device))
			pipe.PExpire(ctx, keys.glances(g.User), push.LooksFor)
			return nil
		})
		return err
	})
}

// Away implements push.Attention.
func (a *Attention) Away(ctx context.Context, user id.User, device id.Device) {
	a.twin.Away(ctx, user, device)
	keys := a.link.keys
	a.link.do(ctx, commandLimit, func(ctx context.Context) error { //nolint:errcheck // the key expires
		_, err := a.link.client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Del(ctx, keys.glance(device))
			pipe.SRem(ctx, keys.glances(user), string(device))
			return nil
		})
		return err
	})
}

// Looking implements push.Attention.
func (a *Attention) Looking(ctx context.Context, user id.User) []push.Glance {
	all := a.twin.Looking(ctx, user)
	seen := map[id.Device]bool{}
	for _, g := range all {
		seen[g.Device] = true
	}
	a.link.do(ctx, commandLimit, func(ctx context.Context) error { //nolint:errcheck // then the twin has to do
		devices, err := a.link.client.SMembers(ctx, a.link.keys.glances(user)).Result()
		if err != nil || len(devices) == 0 {
			return err
		}
		names := make([]string, len(devices))
		for i, device := range devices {
			names[i] = a.link.keys.glance(id.Device(device))
		}
		values, err := a.link.client.MGet(ctx, names...).Result()
		for _, value := range values {
			var g push.Glance
			if text, ok := value.(string); ok && json.Unmarshal([]byte(text), &g) == nil && !seen[g.Device] {
				all = append(all, g)
			}
		}
		return err
	})
	return all
}
