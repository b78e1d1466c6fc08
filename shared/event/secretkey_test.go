package event_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/event"
)

func TestR19KeysThatSoundLikeSecretsAreDroppedAndNothingElse(t *testing.T) {
	for _, c := range []struct {
		value, want string
		dropped     []string
	}{
		{value: ` { "a" : 1.0, "b":[ 1e400 ] }`, want: ` { "a" : 1.0, "b":[ 1e400 ] }`}, // untouched to the byte
		{value: `{"api_key":"x","a":1.0}`, want: `{"a":1.0}`, dropped: []string{"api_key"}},
		{value: `{"a":"<\u2028","X-Api-Key":"x"}`, want: `{"a":"<\u2028"}`, dropped: []string{"X-Api-Key"}},
		{value: `{"accessToken":"x"}`, want: `{}`, dropped: []string{"accessToken"}},
		{
			value: `{"headers":{"Authorization":"b","accept":"*/*"},"list":[{"password":"p"},{"name":"n"}]}`,
			want:  `{"headers":{"accept":"*/*"},"list":[{},{"name":"n"}]}`, dropped: []string{"Authorization", "password"},
		},
		{value: `{"client_secret":{"v":"x"},"cookies":["a"],"reasoning":"text"}`, want: `{}`, dropped: []string{"client_secret", "cookies", "reasoning"}},
		{value: `{"input_tokens":12,"reasoning_tokens":null,"tokens":{"in":1,"out":2.5}}`, want: `{"input_tokens":12,"reasoning_tokens":null,"tokens":{"in":1,"out":2.5}}`},
		{value: `{"tokens":{"in":"abc"}}`, want: `{}`, dropped: []string{"tokens"}},
		{
			value: `{"arguments":{"password":"p"},"result":{"token":"t"},"usage":{"secret":"s"},"fidelity":{"cookie":"c"},"block":{"api_key":"k"}}`,
			want:  `{"arguments":{"password":"p"},"result":{"token":"t"},"usage":{"secret":"s"},"fidelity":{"cookie":"c"},"block":{"api_key":"k"}}`,
		},
		{value: `[{"token":"t"}]`, want: `[{}]`, dropped: []string{"token"}},
		{value: `"token"`, want: `"token"`},
		{value: `null`, want: `null`},
	} {
		got, dropped := event.WithoutSecretKeys(json.RawMessage(c.value))
		if string(got) != c.want || !slices.Equal(dropped, c.dropped) {
			t.Errorf("%s: got %s without %q, want %s without %q", c.value, got, dropped, c.want, c.dropped)
		}
	}
}

func FuzzWithoutSecretKeys(f *testing.F) {
	f.Add(`{"a":{"api_key":"k","b":[{"token":"t"},"\ud800"]},"usage":{"secret":1}}`)
	f.Add(`{"\u0074oken":"t","a\"":0,"a\"":1}`)
	f.Fuzz(func(t *testing.T, value string) {
		if !json.Valid([]byte(value)) || event.Depth([]byte(value)) > event.MaxDepth {
			t.Skip()
		}
		got, dropped := event.WithoutSecretKeys(json.RawMessage(value))
		if !json.Valid(got) || len(dropped) == 0 && string(got) != value {
			t.Fatalf("%q became %q", value, got)
		}
		again, more := event.WithoutSecretKeys(got)
		if len(more) > 0 || string(again) != string(got) {
			t.Fatalf("%q became %q, and that %q", value, got, again)
		}
	})
}
