package outgoing

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// names is a name server of our own: each question for an address gets the next of the list, and the last for ever after.
func names(t *testing.T, answers ...string) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		asked := 0
		for packet := make([]byte, 512); ; {
			n, from, err := server.ReadFrom(packet)
			if err != nil {
				return
			}
			reply := answerTo(packet[:n], answers[min(asked/2, len(answers)-1)])
			asked++                     // A and AAAA
			server.WriteTo(reply, from) //nolint:errcheck // asked again
		}
	}()
	t.Cleanup(func() { server.Close(); <-done }) //nolint:errcheck // a test
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// answerTo says of the name in a question that it has that address, if the question is for one of its kind.
func answerTo(question []byte, address string) []byte {
	const header, a, aaaa = 12, 1, 28
	end := header
	for question[end] != 0 {
		end += int(question[end]) + 1
	}
	end += 5 // the root, type and class
	kind := binary.BigEndian.Uint16(question[end-4:])
	addr := netip.MustParseAddr(address)
	reply := append([]byte{}, question[:end]...)
	reply[2], reply[3] = 0x81, 0x80
	binary.BigEndian.PutUint16(reply[6:], 0)
	binary.BigEndian.PutUint16(reply[8:], 0)
	binary.BigEndian.PutUint16(reply[10:], 0)
	if kind == a && addr.Is4() || kind == aaaa && addr.Is6() {
		binary.BigEndian.PutUint16(reply[6:], 1)
		raw := addr.AsSlice()
		reply = append(reply, 0xc0, header)
		reply = binary.BigEndian.AppendUint16(reply, kind)
		reply = append(reply, 0, 1, 0, 0, 0, 0, 0, byte(len(raw)))
		reply = append(reply, raw...)
	}
	return reply
}

// server counts who reaches it.
func server(t *testing.T, handle http.HandlerFunc) (address string, reached *atomic.Int64) {
	t.Helper()
	reached = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		handle(w, r)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), reached
}

func client(t *testing.T, c Config) *Client {
	t.Helper()
	made := NewClient(c)
	t.Cleanup(made.Close)
	return made
}

func allow(t *testing.T, list ...string) Allowed {
	t.Helper()
	allowed, err := ParseAllowed(list)
	if err != nil {
		t.Fatal(err)
	}
	return allowed
}

func ask(t *testing.T, c *Client, method, url string) (Answer, error) {
	t.Helper()
	r, err := Request(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Do(r)
}

func ok(http.ResponseWriter, *http.Request) { /* 200 */ }

func TestSEC22NothingInTheOwnNetworkIsReachedByAnyName(t *testing.T) {
	address, reached := server(t, ok)
	_, port, _ := net.SplitHostPort(address)
	for _, to := range []string{"127.0.0.1", "::1", "169.254.169.254", "10.0.0.1", "fd00:ec2::254", "::ffff:127.0.0.1"} {
		c := client(t, Config{Resolver: names(t, to)})
		for _, url := range []string{"http://inside.example:" + port, "https://inside.example:" + port} {
			if _, err := ask(t, c, "POST", url); !errors.Is(err, ErrForbidden) {
				t.Errorf("%s, which is %s: %v", url, to, err)
			}
		}
	}
	c := client(t, Config{})
	for _, host := range []string{"127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "[::]", "169.254.169.254", "2130706433", "0x7f000001", "localhost"} {
		for _, scheme := range []string{"http", "https"} {
			if _, err := ask(t, c, "GET", scheme+"://"+host+":"+port); err == nil {
				t.Errorf("%s://%s is reached", scheme, host)
			}
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d requests have come through", n)
	}
}

// The first answer is fine, the next one is not: whatever was looked up before, what counts is what is dialled.
func TestSEC22ANameThatChangesBetweenLookAndUseIsJudgedAtItsUse(t *testing.T) {
	address, reached := server(t, ok)
	_, port, _ := net.SplitHostPort(address)
	resolver := names(t, "127.0.0.1", "127.0.0.2")
	c := client(t, Config{Resolver: resolver, Allowed: allow(t, "127.0.0.1")})
	if _, err := ask(t, c, "POST", "http://rebinding.example:"+port); err != nil {
		t.Fatalf("while the name is allowed: %v", err)
	}
	c.Close() // the next request dials again
	if _, err := ask(t, c, "POST", "http://rebinding.example:"+port); !errors.Is(err, ErrForbidden) {
		t.Errorf("when it has changed: %v", err)
	}
	if n := reached.Load(); n != 1 {
		t.Errorf("reached %d times, want once", n)
	}
}

func TestSEC22ARedirectLeadsNowhereElse(t *testing.T) {
	inside, reached := server(t, ok)
	status := http.StatusTemporaryRedirect
	for i, to := range []string{"http://" + inside, "http://" + inside, "http://169.254.169.254/latest/meta-data", "https://[fd00:ec2::254]/", "file:///etc/passwd", "gopher://" + inside} {
		if i > 0 {
			status = http.StatusFound
		}
		outside, _ := server(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, status) })
		c := client(t, Config{Allowed: allow(t, outside)})
		if _, err := ask(t, c, "GET", "http://"+outside); err == nil {
			t.Errorf("a fetch has followed to %s", to)
		}
		if a, err := ask(t, c, "POST", "http://"+outside); err != nil || a.Status != status {
			t.Errorf("a push to what redirects to %s: %d %v, want the redirect as its answer", to, a.Status, err)
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d requests have come through", n)
	}
}

func TestARedirectWithinWhatIsAllowedIsFollowedAFewTimes(t *testing.T) {
	var self string
	self, reached := server(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "http://"+self, http.StatusFound) })
	a, err := ask(t, client(t, Config{Allowed: allow(t, self)}), "GET", "http://"+self)
	if err != nil || a.Status != http.StatusFound || reached.Load() != maxRedirects+1 {
		t.Errorf("%d after %d requests: %v", a.Status, reached.Load(), err)
	}
}

func TestOnlyTheBeginningOfALongAnswerIsRead(t *testing.T) {
	address, _ := server(t, func(w http.ResponseWriter, _ *http.Request) {
		for line := strings.Repeat("x", 1<<16); ; {
			if _, err := fmt.Fprint(w, line); err != nil {
				return
			}
		}
	})
	a, err := ask(t, client(t, Config{Allowed: allow(t, address)}), "GET", "http://"+address)
	if err != nil || len(a.Body) != maxBody {
		t.Errorf("%d bytes: %v", len(a.Body), err)
	}
}

func TestNoErrorRepeatsTheAddress(t *testing.T) {
	const secret = "topic-that-nobody-knows"
	_, err := ask(t, client(t, Config{}), "POST", "http://127.0.0.1:1/"+secret)
	if err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("said: %v", err)
	}
	if _, err := Request(t.Context(), "POST", "http://[x/"+secret, nil); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("said: %v", err)
	}
}

func TestTheEnvironmentNamesNoProxy(t *testing.T) {
	proxy, reached := server(t, ok)
	t.Setenv("HTTPS_PROXY", "http://"+proxy)
	t.Setenv("HTTP_PROXY", "http://"+proxy)
	ask(t, client(t, Config{Resolver: names(t, "10.0.0.1")}), "GET", "http://inside.example") //nolint:errcheck // it fails
	if reached.Load() > 0 {
		t.Error("the proxy was asked")
	}
}
