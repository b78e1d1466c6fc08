package security

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// canaries are secrets by what they are.
type canaries map[string]string

// SEC2, SEC26, P22: no secret is ever in a log, and of those that are kept, none is where others are not.
func TestNoSecretIsInALogOrWhereItDoesNotBelong(t *testing.T) {
	t.Parallel()
	const metricsToken, agentKey = "canary-metrics-5f1d0b6a", "canary-agent-key-90ab77c1"
	r := rig.New(t, rig.Options{Env: []string{"HUB_LOG_LEVEL=debug", "HUB_METRICS_TOKEN=" + metricsToken}})
	leaky := rig.Profile("events", "/bin/sh", "-c", `read turn; echo "{\"type\":\"delta\",\"content\":\"key $AGENT_KEY\"}"; echo "$AGENT_KEY" >&2; echo '{"type":"done"}'`) +
		"env:\n  AGENT_KEY: " + agentKey + "\n"
	edge := r.AddEdge("laptop", map[string]string{"leaky": leaky})
	secrets := canaries{
		"bootstrap token": r.Bootstrap, "password": rig.Password, "enrolment token": edge.Token, "metrics token": metricsToken,
		"edge credential": edgeCredential(t, edge), "local API token": readSecret(t, filepath.Join(edge.Home, "local.token")), "agent key": agentKey,
	}
	device := r.Device("a", r.HubURL())
	seen := device.Watch()
	seen.UntilConnected(1)
	run := device.Run(device.Group("demo", "leaky"), "@leaky go")
	seen.UntilSettled(run)
	secrets.useAll(t, r, device)

	for what, secret := range secrets {
		for _, output := range []*rig.Output{r.Hub().Out(), r.Hub().Log(), edge.Process().Out(), edge.Process().Log()} {
			if form := foundIn([]byte(output.String()), secret); form != "" {
				t.Errorf("%s is in a log, %s", what, form)
			}
		}
	}
	for _, e := range device.Log(run) {
		if form := foundIn(e.Payload, agentKey); form != "" {
			t.Errorf("the agent's key is in the run's log, %s: %s", form, e.Payload)
		}
	}
	if !strings.Contains(r.Hub().Log().String(), edge.ID) {
		t.Error("positive control: the search finds nothing, not even the edge's id in the hub's log")
	}
	edge.Process().Stop()
	r.Hub().Stop()
	secrets.mustNotBeStored(t, r.HubHome(), "keys.json")
	secrets.mustNotBeStored(t, edge.Home, "edge.json", "local.token", filepath.Join("profiles", "leaky.yaml"))
}

// useAll uses every kind of credential in every way there is, rightly and wrongly, and adds what the hub hands out.
func (c canaries) useAll(t *testing.T, r *rig.Rig, d *rig.Device) {
	t.Helper()
	anonymous, err := client.Anonymous(client.Options{Hub: r.HubURL()})
	if err != nil {
		t.Fatal(err)
	}
	login := func(password string) (client.Tokens, error) {
		return client.Decode[client.Tokens](anonymous.Login(t.Context(), client.LoginInput{
			Username: rig.Username, Password: password, Device: client.DeviceInput{Name: "another", Type: client.DeviceTypeWeb},
		}))
	}
	tokens, err := login(rig.Password)
	if err != nil {
		t.Fatal(err)
	}
	c["wrong password"] = "canary-wrong-4b0d1e2f"
	if _, err := login(c["wrong password"]); err == nil {
		t.Error("a wrong password logged in")
	}
	c["access token"], c["refresh token"] = tokens.AccessToken, tokens.RefreshToken
	renewed, err := client.Decode[client.Tokens](anonymous.RefreshTokens(t.Context(), client.RefreshInput{RefreshToken: tokens.RefreshToken}))
	if err != nil {
		t.Fatal(err)
	}
	c["renewed access token"], c["renewed refresh token"] = renewed.AccessToken, renewed.RefreshToken
	c["device's access token"], c["device's refresh token"] = credentials(t, d).AccessToken, credentials(t, d).RefreshToken
	invitation, err := client.Decode[client.Invitation](d.API().CreateInvitation(t.Context(), &client.CreateInvitationParams{IdempotencyKey: uuid.NewString()}))
	if err != nil {
		t.Fatal(err)
	}
	c["invitation"] = invitation.Token
	c.useBadly(t, r.HubURL())
}

// useBadly puts credentials where they must not be, and where they are of no use.
func (c canaries) useBadly(t *testing.T, hub string) {
	t.Helper()
	for what, secret := range c {
		for _, where := range []string{"/client/ws?access_token=", "/client/auth/me?token=", "/metrics?token=", "/edge/uplink?ticket="} {
			mustRefuse(t, what+" in the URL", get(t, hub+where+url.QueryEscape(secret), nil))
		}
		mustRefuse(t, what+" as a cookie", get(t, hub+"/client/auth/me", http.Header{"Cookie": {"switchyard_session=" + url.QueryEscape(secret)}}))
		mustRefuse(t, what+" as a basic credential", get(t, hub+"/client/auth/me", http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("dev:"+secret))}}))
		if !strings.Contains(what, "access token") {
			mustRefuse(t, what+" as a bearer", get(t, hub+"/client/auth/me", http.Header{"Authorization": {"Bearer " + secret}}))
		}
	}
}

func get(t *testing.T, address string, header http.Header) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		req.Header = header
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

func mustRefuse(t *testing.T, what string, status int) {
	t.Helper()
	if status < 400 || status > 499 {
		t.Errorf("%s was answered with %d", what, status)
	}
}

// mustNotBeStored looks through all files under home but those that are there to hold a secret.
func (c canaries) mustNotBeStored(t *testing.T, home string, except ...string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		for _, name := range except {
			if path == filepath.Join(home, name) {
				return nil
			}
		}
		files++
		data, err := os.ReadFile(path)
		for what, secret := range c {
			if form := foundIn(data, secret); form != "" {
				t.Errorf("%s is in %s, %s", what, path, form)
			}
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("looked through %d files (%v)", files, err)
	}
}

// foundIn says in which form the secret is in data; "" if in none.
func foundIn(data []byte, secret string) string {
	quoted, err := json.Marshal(secret)
	if err != nil {
		return err.Error()
	}
	for form, text := range map[string]string{
		"plainly": secret, "in base64": base64.StdEncoding.EncodeToString([]byte(secret)), "in base64url": base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"in hex": hex.EncodeToString([]byte(secret)), "URL-encoded": url.QueryEscape(secret), "as JSON": strings.Trim(string(quoted), `"`),
	} {
		if bytes.Contains(data, []byte(text)) {
			return form
		}
	}
	return ""
}

func credentials(t *testing.T, d *rig.Device) client.Credentials {
	t.Helper()
	c, err := d.Keeper.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func edgeCredential(t *testing.T, e *rig.Edge) string {
	t.Helper()
	var identity struct {
		Credential string `json:"credential"`
	}
	if err := json.Unmarshal([]byte(readSecret(t, filepath.Join(e.Home, "edge.json"))), &identity); err != nil || identity.Credential == "" {
		t.Fatalf("no credential in edge.json (%v)", err)
	}
	return identity.Credential
}

func readSecret(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// SEC9: with a token set, the metrics are for those who have it.
func TestMetricsAreForThoseWhoHaveTheToken(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Env: []string{"HUB_METRICS_TOKEN=canary-metrics"}})
	mustRefuse(t, "metrics without the token", get(t, r.HubURL()+"/metrics", nil))
	if status := get(t, r.HubURL()+"/metrics", http.Header{"Authorization": {"Bearer canary-metrics"}}); status != http.StatusOK {
		t.Errorf("metrics with the token: %d", status)
	}
	open := rig.New(t, rig.Options{})
	if status := get(t, open.HubURL()+"/metrics", nil); status != http.StatusOK {
		t.Errorf("metrics for a direct loopback peer: %d", status)
	}
	mustRefuse(t, "metrics through a proxy", get(t, open.HubURL()+"/metrics", http.Header{"X-Forwarded-For": {"203.0.113.7"}}))
}
