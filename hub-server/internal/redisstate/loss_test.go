package redisstate

import (
	"context"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/memstate"
	"github.com/switchyard-dev/switchyard/hub-server/internal/statetest"
	"github.com/switchyard-dev/switchyard/hub-server/internal/testredis"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// strikes are the ways in which Redis is lost. Each returns when it is gone; the returned function brings it back.
func strikes(server *testredis.Server) map[string]func() (restore func()) {
	return map[string]func() func(){
		"killed": func() func() { server.Kill(); return server.Launch },
		"paused": func() func() { server.Pause(); return server.Resume },
	}
}

func TestWithoutRedisTheLimitOfThisHubHoldsAtOnce(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	l := link(t, server)
	for name, strike := range strikes(server) {
		within(t, "redis is back", l.isUp)
		limiter := NewLimiter(l, memstate.NewLimiter())
		const rate, burst = 0.001, 10
		for range burst / 2 {
			if wait, err := limiter.Take(t.Context(), name, rate, burst); wait != 0 || err != nil {
				t.Fatalf("%s: wait %s, %v", name, wait, err)
			}
		}
		restore := strike()
		begin, given := time.Now(), 0
		for range 3 * burst {
			wait, err := limiter.Take(t.Context(), name, rate, burst)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if wait == 0 {
				given++
			}
		}
		// What was taken while Redis was there counts: losing it opens nothing. And one exchange was waited for at most.
		if took := time.Since(begin); given != burst/2 || took > commandLimit+time.Second {
			t.Errorf("%s: %d tokens of %d were left, %s for all", name, given, burst/2, took)
		}
		restore()
	}
}

// Two hubs share a limit, and a Redis that is wiped again and again gives the caller of each no more than the burst of that hub.
func TestAWipedRedisGivesNobodyANewBurstAtTheSameHub(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	hubs := []*Limiter{NewLimiter(link(t, server), memstate.NewLimiter()), NewLimiter(link(t, server), memstate.NewLimiter())}
	const rate, burst = 0.001, 10
	knock := func(times int, before func()) (given int) {
		for i := range times {
			before()
			if wait, err := hubs[i%2].Take(t.Context(), "ada", rate, burst); err != nil {
				t.Fatal(err)
			} else if wait == 0 {
				given++
			}
		}
		return given
	}
	if given := knock(burst+2, func() {}); given != burst {
		t.Errorf("two hubs gave %d tokens, want %d in all", given, burst)
	}
	if given, left := knock(5*burst, server.Flush), 2*burst-(burst+2); given != left {
		t.Errorf("a Redis that is wiped gave %d more, want %d: what the two hubs had left by themselves", given, left)
	}
}

func TestHubsShareALimit(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	hubs := []*Limiter{NewLimiter(link(t, server), memstate.NewLimiter()), NewLimiter(link(t, server), memstate.NewLimiter())}
	const rate, burst = 0.001, 10
	given := 0
	for i := range 4 * burst {
		if wait, err := hubs[i%2].Take(t.Context(), "ada", rate, burst); err != nil {
			t.Fatal(err)
		} else if wait == 0 {
			given++
		}
	}
	if given != burst {
		t.Errorf("two hubs gave %d tokens, want %d in all", given, burst)
	}
}

func TestALostRedisIsFilledAgainWithWhatHubsHold(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	links := []*Link{link(t, server), link(t, server)}
	here, there := NewPresence("here", links[0], deaf{}), NewPresence("there", links[1], deaf{})
	run(t, here.Run)
	run(t, there.Run)
	all := strikes(server)
	all["wiped"] = func() func() { server.Flush(); return func() {} }
	all["killed and started empty"] = func() func() { server.Kill(); server.Launch(); return func() {} }
	for name, strike := range all {
		edge := id.NewEdge()
		here.Arrived(edge)
		within(t, name+": online before", func() bool { return there.Online(edge) })
		restore := strike()
		during := id.NewEdge()
		here.Arrived(during)
		restore()
		within(t, name+": what came meanwhile is online", func() bool { return there.Online(during) })
		if !there.Online(edge) {
			t.Errorf("%s: what was there before is offline", name)
		}
		here.Departed(edge)
		within(t, name+": offline after", func() bool { return !there.Online(edge) })
	}
}

func TestALostRedisIsFilledAgainWithThePeopleWhoAreThere(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	hubs := []*People{NewPeople("here", link(t, server), unseen{}), NewPeople("there", link(t, server), unseen{})}
	for _, h := range hubs {
		run(t, h.Run)
	}
	here, there := hubs[0], statetest.OnlineIn(hubs[1])
	all := strikes(server)
	all["wiped"] = func() func() { server.Flush(); return func() {} }
	for name, strike := range all {
		ada, bob := id.NewUser(), id.NewUser()
		here.Arrived(ada)
		within(t, name+": online before", func() bool { return there.Online(ada) })
		restore := strike()
		here.Arrived(bob)
		if len(here.Present()) == 0 {
			t.Errorf("%s: a hub does not know its own people", name)
		}
		restore()
		within(t, name+": all are online after", func() bool { return there.Online(ada) && there.Online(bob) })
		here.Departed(ada)
		here.Departed(bob)
		within(t, name+": offline after", func() bool { return !there.Online(ada) && !there.Online(bob) })
	}
}

// A hub that loses Redis while it hears the others over the bus loses nobody.
func TestWithoutRedisTheTwinSaysWhoIsThere(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	ada := id.NewUser()
	p := NewPeople("alone", stopped(t, server), sees{people: map[id.User]struct{}{ada: {}}})
	if !statetest.OnlineIn(p).Online(ada) {
		t.Error("whom the twin knows is not present")
	}
}

// sees is a twin that knows some people.
type sees struct {
	unseen
	people map[id.User]struct{}
}

func (s sees) Present() map[id.User]struct{} { return maps.Clone(s.people) }

func TestWhatWasSaidWithoutRedisIsHeardWhenItIsBack(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	var mu sync.Mutex
	var ended []account.Family
	heard := Heard{
		LoginEnded:  func(f account.Family) { mu.Lock(); defer mu.Unlock(); ended = append(ended, f) },
		EdgeRevoked: func(id.Edge) {}, CommandsWait: func(id.Edge) {},
	}
	links := []*Link{link(t, server), link(t, server)}
	says := NewSignals("says", links[0], deaf{}, nobody{}, heard)
	run(t, says.Run)
	run(t, NewSignals("hears", links[1], deaf{}, nobody{}, heard).Run)
	has := func(f account.Family) func() bool {
		return func() bool { mu.Lock(); defer mu.Unlock(); return slices.Contains(ended, f) }
	}
	for name, strike := range strikes(server) {
		says.LoginEnded(account.Family(name + " before"))
		within(t, name+": heard before", has(account.Family(name+" before")))
		restore := strike()
		begin := time.Now()
		says.LoginEnded(account.Family(name + " during"))
		if took := time.Since(begin); took > commandLimit/2 {
			t.Errorf("%s: saying it took %s", name, took)
		}
		restore()
		within(t, name+": heard after", has(account.Family(name+" during")))
	}
	server.Flush()
	says.LoginEnded("after a wipe")
	within(t, "heard after a wipe", has("after a wipe"))
}

// nobody holds an edge.
type nobody struct{}

func (nobody) Holders(id.Edge) []string { return nil }

func TestRedisHoldsNoNameAndNoAddressOfAPerson(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	l := link(t, server)
	limiter := NewLimiter(l, memstate.NewLimiter())
	if _, err := limiter.Take(t.Context(), "login-name:ada typed a password here", 1, 2); err != nil {
		t.Fatal(err)
	}
	names, err := l.client.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(names, "\n"); len(names) < 2 || strings.Contains(all, "ada") || strings.Contains(all, "password") {
		t.Errorf("keys are %q", names)
	}
	foreign := newKeys([]byte("of another store"))
	for _, name := range names {
		if strings.HasPrefix(name, foreign.prefix) {
			t.Errorf("another store would have the key %q too", name)
		}
	}
}

func TestAnAddressThatIsNoneIsRefusedWithoutRepeatingIt(t *testing.T) {
	for _, address := range []string{
		"redis://:hunter2@host:port", "http://:hunter2@host", "redis://:hunter2@[::1", ":hunter2", "rediss://:hunter2@host?skip_verify=true",
	} {
		err := CheckURL(address)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{"redis://host", "redis://user:hunter2@host:6380/3", "rediss://:hunter2@host:6379/0", "unix:///run/redis.sock"} {
		if err := CheckURL(address); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestThePasswordIsInNoError(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	wrong := strings.Replace(server.URL(), server.Password(), "hunter2", 1)
	if err := Ping(t.Context(), wrong); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("with a wrong password: %v", err)
	}
	if err := Ping(t.Context(), server.URL()); err != nil {
		t.Errorf("with the right one: %v", err)
	}
}

func TestWhateverIsInRedisGoesWhenNobodyRenewsIt(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	l := link(t, server)
	p := NewPresence("hub", l, deaf{})
	p.Arrived(id.NewEdge())
	says := NewSignals("hub", l, deaf{}, nobody{}, Heard{})
	if err := p.renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, stream := range append(says.streams(), l.keys.signalsTo("other")) {
		if err := says.add(t.Context(), signal{stream, loginEnded, "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := NewLimiter(l, memstate.NewLimiter()).Take(t.Context(), "ada", 1, 2); err != nil {
		t.Fatal(err)
	}
	names, err := l.client.Keys(t.Context(), "*").Result()
	if err != nil || len(names) != 8 { // contents, hubs, lease, bucket, four streams
		t.Fatalf("keys %q, %v", names, err)
	}
	for _, name := range names {
		if left, err := l.client.PTTL(t.Context(), name).Result(); err != nil || left <= 0 || left > lifeFor {
			t.Errorf("%s goes in %s, %v", name, left, err)
		}
	}
}

// A connection may take longer to be made than an exchange may take: a handshake, far away.
func TestConnectionsThatAreSlowToMakeDoNotTakeRedisAway(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t)
	l := stopped(t, server)
	options := *l.client.Options()
	options.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		<-time.After(2 * commandLimit)
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	if err := l.client.Close(); err != nil {
		t.Fatal(err)
	}
	l.client = redis.NewClient(&options)
	run(t, l.Run)
	within(t, "redis answers, and connections are ready", func() bool { return l.isUp() && l.client.PoolStats().IdleConns >= minIdle })
	var all sync.WaitGroup
	for range minIdle / 2 {
		all.Go(func() {
			err := l.do(t.Context(), commandLimit, func(ctx context.Context) error { // long enough that each has a connection of its own
				return l.client.XRead(ctx, &redis.XReadArgs{Streams: []string{"nothing", "0"}, Block: commandLimit / 2}).Err()
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
