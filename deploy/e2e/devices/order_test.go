package devices

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

func encode(f client.HubWebSocketFrame) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(f)
	return b.Bytes(), err
}

func eachTwice(frames []client.HubWebSocketFrame) (all []client.HubWebSocketFrame) {
	for _, f := range frames {
		all = append(all, f, f)
	}
	return all
}

// disordered is frames in another order, twice. Frames that undo one another, such as a pin and its end, keep theirs, as the one feed of a hub does.
func disordered(frames []client.HubWebSocketFrame, seed uint64) []client.HubWebSocketFrame {
	random := rand.New(rand.NewPCG(seed, 0))
	return slices.Concat(shuffled(frames, random), shuffled(frames, random))
}

func shuffled(frames []client.HubWebSocketFrame, random *rand.Rand) []client.HubWebSocketFrame {
	places := random.Perm(len(frames))
	byTopic := map[string][]int{} // places, by what the frames are about
	for i, f := range frames {
		if topic := topicOf(f); topic != "" {
			byTopic[topic] = append(byTopic[topic], places[i])
		}
	}
	for _, taken := range byTopic {
		slices.Sort(taken)
	}
	mixed := make([]client.HubWebSocketFrame, len(frames))
	for i, f := range frames {
		at := places[i]
		if topic := topicOf(f); topic != "" {
			at, byTopic[topic] = byTopic[topic][0], byTopic[topic][1:]
		}
		mixed[at] = f
	}
	return mixed
}

// topicOf is what frames are about whose order counts; "" for any other.
func topicOf(f client.HubWebSocketFrame) string {
	typ, key, _ := strings.Cut(client.Key(f), " ")
	switch family, _, _ := strings.Cut(typ, "."); {
	case family == "session":
		session, _, _ := strings.Cut(key, "/")
		return family + session
	case strings.HasPrefix(typ, "message.reaction_"):
		return "reaction " + key
	case strings.HasSuffix(typ, "pin"):
		return "pin " + key
	}
	return ""
}
