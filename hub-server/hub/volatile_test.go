package hub

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// All hubs of a store find the same names, those of the next version too; and the key behind them is used for nothing else.
func TestNamesInRedisHaveAKeyOfTheirOwn(t *testing.T) {
	from := []byte("the key that all hubs of a store share")
	key, err := namesKey(from)
	if err != nil || bytes.Equal(key, from) {
		t.Fatalf("key %x, %v", key, err)
	}
	const want = "b6a58062fd321c9d6d4f9eb066e34f859fd8135cb4184bbcc715f226e898653a"
	if got := hex.EncodeToString(key); got != want {
		t.Errorf("key %s, want %s: hubs of two versions would not find one another in Redis", got, want)
	}
}
