package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// wanderer is a device of somebody who is on the move: its network fails, it sleeps, and it comes back to one hub or the other.
type wanderer struct {
	who     *person
	feed    *client.Feed
	weather *weather
	seed    uint64

	frames, naps, stalls, cuts, resets int
}

// person is somebody with devices, who follows one conversation with one run in it.
type person struct {
	first   *rig.Device
	id      string
	session string
	run     client.RunID
	devices []*wanderer
}

// newWanderer registers one more device of a person.
func newWanderer(who *person, name string, seed uint64, hubs []string, url string) (*wanderer, error) {
	w := &wanderer{who: who, weather: newWeather(seed, hubs), seed: seed}
	c, err := client.New(client.Options{Hub: url, Keeper: who.first.Another(name, url).Keeper, Transport: w.weather.transport})
	if err != nil {
		return nil, err
	}
	w.feed = c.Feed(client.KeptByCaller(""), client.FeedOptions{})
	return w, nil
}

// Figures of sleep.
const (
	awakeFrom, awakeTo   = 2 * time.Second, 20 * time.Second
	asleepFrom, asleepTo = 20 * time.Millisecond, 6 * time.Second
)

// live follows, and sleeps now and then, until over ends; then it follows until it knows how its run has ended.
func (w *wanderer) live(ctx, over context.Context, up func()) error {
	random := rand.New(rand.NewPCG(w.seed, 3))
	for over.Err() == nil {
		awake, sleep := context.WithTimeout(over, moment(random, awakeFrom, awakeTo))
		err := w.follow(awake, up, func() bool { return false })
		sleep()
		if err != nil {
			return err
		}
		if pauseFor(over, moment(random, asleepFrom, asleepTo)) {
			w.naps++
		}
	}
	w.weather.heal()
	defer w.weather.transport.CloseIdleConnections()
	patient, cancel := context.WithTimeout(ctx, rig.Patience)
	defer cancel()
	if err := w.follow(patient, up, w.ended); err != nil {
		return err
	}
	if !w.ended() {
		return fmt.Errorf("a device of %s knows %d events of %s and not how it ended", w.who.id, w.feed.State().Watermark(w.who.run), w.who.run)
	}
	return nil
}

func (w *wanderer) ended() bool { return w.feed.Outcome(w.who.run) != "" }

// follow takes what comes until ctx ends, or enough. up is called when a connection stands.
func (w *wanderer) follow(ctx context.Context, up func(), enough func() bool) error {
	if enough() {
		return nil
	}
	for u, err := range w.feed.Follow(ctx) {
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("a device of %s: %w", w.who.id, err)
		case u.Ready:
			up()
		case u.Snapshot && w.frames > 0:
			w.resets++
		case u.Frame != nil && u.Link == "":
			w.frames++
		}
		if enough() {
			return nil
		}
	}
	return nil
}

// picture is what somebody ought to see: what a new device is shown, and the log of the run.
type picture struct {
	records map[string]json.RawMessage
	log     []client.RunEvent
}

// pictureOf asks a hub, as a device that has never been there.
func pictureOf(ctx context.Context, p *person, url string) (picture, error) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	fresh, err := client.New(client.Options{Hub: url, Keeper: p.first.Another("fresh", url).Keeper, Transport: transport})
	if err != nil {
		return picture{}, err
	}
	feed := fresh.Feed(client.KeptByCaller(""), client.FeedOptions{})
	for u, err := range feed.Follow(ctx) {
		if err != nil {
			return picture{}, err
		}
		if u.Ready {
			break
		}
	}
	return picture{records: feed.State().Records(), log: p.first.Log(runID(p.run))}, nil
}

// compare is an error for whatever a device shows that is not in the picture, or the other way round.
func (p picture) compare(run client.RunID, state *client.Reducer) error {
	var faults []error
	if got, want := state.RunDigest(run), client.LogDigest(p.log); got != want {
		faults = append(faults, fmt.Errorf("the log of %s is another one: %d events, want %d", run, state.Watermark(run), len(p.log)))
	}
	shown := state.Records()
	for key, want := range p.records {
		if got := shown[key]; kept(key) && !sameJSON(got, want) {
			faults = append(faults, fmt.Errorf("%s is %s, want %s", key, got, want))
		}
	}
	for key := range shown {
		if _, known := p.records[key]; kept(key) && !known {
			faults = append(faults, fmt.Errorf("%s is shown and is not there", key))
		}
	}
	return errors.Join(faults...)
}

// kept says whether a snapshot has such records: what happened to a run stands in its log.
func kept(key string) bool {
	return strings.HasPrefix(key, "message ") || strings.HasPrefix(key, "session ") || strings.HasPrefix(key, "notification ")
}

func sameJSON(a, b json.RawMessage) bool {
	x, errX := event.Canonical(a)
	y, errY := event.Canonical(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
