package redisstate

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// key names something in Redis. Keys are made here and read nowhere.
type key = string

// keys are those of the hubs of one store.
type keys struct {
	secret []byte
	prefix string
}

// newKeys derives the prefix from the secret, so that several stores can use one Redis. The braces let a cluster keep all of it in one place.
func newKeys(secret []byte) keys {
	k := keys{secret: secret}
	k.prefix = fmt.Sprintf("{switchyard:%s}:", k.hide("prefix")[:16])
	return k
}

// hide turns what people typed, or where they came from, into something that says nothing and has a fixed length.
func (k keys) hide(name string) string {
	sum := hmac.New(sha256.New, k.secret)
	sum.Write([]byte(name))
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// life names the contents.
func (k keys) life() key { return k.prefix + "life" }

// hubs is the set of hub processes that have a lease, or had one.
func (k keys) hubs() key { return k.prefix + "hubs" }

// lease is what a hub process holds: it expires with the hub.
func (k keys) lease(hub string) key { return k.prefix + "lease:" + hub }

// crowd is who is connected to a hub process: it expires with the hub. crowds is the set of those that have one, or had one.
func (k keys) crowd(hub string) key { return k.prefix + "crowd:" + hub }
func (k keys) crowds() key          { return k.prefix + "crowds" }

// bucket is the token bucket of a limit; name says of what and whom.
func (k keys) bucket(name string) key { return k.prefix + "bucket:" + k.hide(name) }

// glance is what a device is looked at for; glances are the devices of a person that are, or were a moment ago.
func (k keys) glance(d id.Device) key { return k.prefix + "glance:" + string(d) }
func (k keys) glances(u id.User) key  { return k.prefix + "glances:" + string(u) }

// ends is the stream of what has ended, for all hubs; signals that of whatever else concerns all, signalsTo that of what concerns one.
func (k keys) ends() key                { return k.prefix + "ends" }
func (k keys) signals() key             { return k.prefix + "signals" }
func (k keys) signalsTo(hub string) key { return k.prefix + "signals:" + hub }
