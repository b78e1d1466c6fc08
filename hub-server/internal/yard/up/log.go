package up

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
)

const tailBytes = 16 << 10

// newLog begins a log; the one before stays beside it.
func newLog(path string) (*os.File, error) {
	if err := os.Rename(path, path+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("keep the last log: %w", err)
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin a log: %w", err)
	}
	return log, nil
}

// routine says whether a line of a log is no sign of trouble.
func routine(line string) bool {
	var entry struct {
		Level slog.Level `json:"level"`
	}
	return json.Unmarshal([]byte(line), &entry) == nil && entry.Level < slog.LevelWarn
}

// tail returns the last lines of a file, none if it cannot be read.
func tail(path string, lines int) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // read only
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	if _, err := f.Seek(max(0, info.Size()-tailBytes), io.SeekStart); err != nil {
		return nil
	}
	data, err := io.ReadAll(f)
	data = bytes.TrimSpace(data)
	if err != nil || len(data) == 0 {
		return nil
	}
	all := strings.Split(string(data), "\n")
	return all[max(0, len(all)-lines):]
}
