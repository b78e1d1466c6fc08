package chat

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/durable"
)

// role is who said something.
type role string

const (
	roleUser      role = "user"
	roleAssistant role = "assistant"
)

// message is one thing that was said.
type message struct {
	Role    role   `json:"role"`
	Content string `json:"content"`
}

// bounds of a conversation.
type bounds struct {
	messages int
	bytes    int // of text
}

// A conversation beyond soft is summarised. What cannot be is remembered up to hard: the newest messages that fit.
var (
	soft = bounds{messages: 200, bytes: 128 << 10}
	hard = bounds{messages: 400, bytes: 512 << 10}
)

// memory is the file of one conversation: a message per line, the oldest first.
type memory struct{ path string }

// memoryOf returns the memory of a session. Its id comes from outside, so the file is named by a digest of it.
func memoryOf(dir, session string) memory {
	sum := sha256.Sum256([]byte(session))
	return memory{filepath.Join(dir, "chat-"+hex.EncodeToString(sum[:16])+".jsonl")}
}

// load returns nothing for a conversation that is new, or whose file is gone.
func (m memory) load() ([]message, error) {
	data, err := os.ReadFile(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read memory: %w", err)
	}
	var all []message
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var one message
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("read memory: %s is damaged: %w", filepath.Base(m.path), err)
		}
		all = append(all, one)
	}
	return all, lines.Err()
}

// save replaces the file in one step, so that a crash leaves the old conversation or the new one.
func (m memory) save(all []message) error {
	var data bytes.Buffer
	for _, one := range newest(all) {
		line, err := json.Marshal(one)
		if err != nil {
			return fmt.Errorf("write memory: %w", err)
		}
		data.Write(append(line, '\n'))
	}
	if err := durable.Replace(m.path, data.Bytes()); err != nil {
		return fmt.Errorf("write memory: %w", err)
	}
	return nil
}

// newest returns the end of a conversation that is still remembered. It begins with a question.
func newest(all []message) []message {
	from, size := len(all), 0
	for from > 0 && len(all)-from < hard.messages {
		size += len(all[from-1].Content)
		if size > hard.bytes {
			break
		}
		from--
	}
	kept := all[from:]
	if i := slices.IndexFunc(kept, func(m message) bool { return m.Role == roleUser }); i >= 0 {
		return kept[i:]
	}
	return nil
}
