package account

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestSEC27KeyFileIsMadeOnceForItsOwnerAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	var rings sync.Map
	var starts sync.WaitGroup
	for range 8 { // hubs that start for the first time at the same moment
		starts.Go(func() {
			ring, err := OpenKeyring(path, discard)
			if err != nil {
				t.Error(err)
				return
			}
			rings.Store(ring.Current().Signing, true)
		})
	}
	starts.Wait()
	count := 0
	rings.Range(func(any, any) bool { count++; return true })
	if count != 1 {
		t.Fatalf("%d different key files", count)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.part"))
	if err != nil || len(left) > 0 {
		t.Fatalf("left behind %v, %v", left, err)
	}
}

func TestSEC27KeyFileThatOthersCanReadIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	if _, err := OpenKeyring(path, discard); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenKeyring(path, discard); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Fatalf("error %v", err)
	}
}

func TestSEC6WeakSecretsAreRefusedAndNeverQuoted(t *testing.T) {
	alter := func(change func(*Keys)) []byte {
		k := NewKeys()
		change(&k)
		data, err := k.encode()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for name, data := range map[string][]byte{
		"short token key":  alter(func(k *Keys) { k.Tokens[k.Signing] = Secret("secret") }),
		"typed token key":  alter(func(k *Keys) { k.Tokens[k.Signing] = Secret(strings.Repeat("secret", 8)) }),
		"zero receipts":    alter(func(k *Keys) { k.Receipts = make(Secret, 32) }),
		"no answers key":   alter(func(k *Keys) { k.Answers = nil }),
		"one for two uses": alter(func(k *Keys) { k.Receipts = k.Tokens[k.Signing] }),
		"no token key":     alter(func(k *Keys) { k.Tokens = nil }),
		"unknown signing":  alter(func(k *Keys) { k.Signing = "other" }),
		"three token keys": alter(func(k *Keys) { k.Tokens["b"], k.Tokens["c"] = newSecret(), newSecret() }),
		"other version":    bytes.Replace(alter(func(*Keys) {}), []byte(`"version": 1`), []byte(`"version": 9`), 1),
		"plain secret":     []byte("secret"),
	} {
		path := filepath.Join(t.TempDir(), "keys.json")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := OpenKeyring(path, discard)
		if err == nil {
			t.Errorf("%s: accepted", name)
		} else if strings.Contains(err.Error(), "c2VjcmV0") || strings.Contains(err.Error(), "secretsecret") {
			t.Errorf("%s: the error quotes the secret: %v", name, err)
		}
	}
}

func TestKeyFileRoundTrips(t *testing.T) {
	want := NewKeys().Rotated()
	data, err := want.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeKeys(data)
	if err != nil {
		t.Fatal(err)
	}
	again, err := got.encode()
	if err != nil || !bytes.Equal(data, again) {
		t.Fatalf("%s\n%s\n%v", data, again, err)
	}
}

func TestSEC6RotationKeepsTheKeyBeforeAndIsNoticedByOtherHubs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	here, err := OpenKeyring(path, discard)
	if err != nil {
		t.Fatal(err)
	}
	there, err := OpenKeyring(path, discard)
	if err != nil {
		t.Fatal(err)
	}
	old, err := NewIssuer(here, time.Now).Issue(testDevice())
	if err != nil {
		t.Fatal(err)
	}
	if err := RotateKeyFile(path); err != nil {
		t.Fatal(err)
	}
	if err := here.read(); err != nil {
		t.Fatal(err)
	}
	fresh, err := NewIssuer(here, time.Now).Issue(testDevice())
	if err != nil {
		t.Fatal(err)
	}
	if here.Current().Signing == there.Current().Signing {
		t.Fatal("positive control: the key was not rotated")
	}
	for name, token := range map[string]AccessToken{"old": old, "fresh": fresh} {
		for hub, ring := range map[string]*Keyring{"here": here, "there": there} {
			if _, err := NewIssuer(ring, time.Now).verify(token); err != nil {
				t.Errorf("%s token %s: %v", name, hub, err)
			}
		}
	}
	if err := RotateKeyFile(path); err != nil {
		t.Fatal(err)
	}
	if err := here.read(); err != nil {
		t.Fatal(err)
	}
	if _, err := NewIssuer(here, time.Now).verify(old); err == nil {
		t.Fatal("a key survives two rotations")
	}
}

func FuzzDecodeKeys(f *testing.F) {
	data, err := NewKeys().encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"version":1,"token_keys":[{"kid":"a"},{"kid":"a"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		keys, err := decodeKeys(data)
		if err == nil && keys.check() != nil {
			t.Fatal("weak keys were accepted")
		}
	})
}
