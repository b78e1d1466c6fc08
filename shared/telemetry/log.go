// Package telemetry is how a process lets itself be watched: structured logs without secrets, metrics, health checks and trace ids. It is the
// only importer of the Prometheus library.
package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

const masked = "[masked]"

// NewLogger returns a logger that writes JSON lines to w. level is debug, info, warn or error. Values of attributes whose key sounds like a secret
// are masked, in groups too; a Trace in the context of a log call is added as trace_id and span_id.
func NewLogger(w io.Writer, level string) (*slog.Logger, error) {
	l, err := ParseLevel(level)
	if err != nil {
		return nil, err
	}
	json := slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l, ReplaceAttr: maskSecrets})
	return slog.New(traceHandler{json}), nil
}

// ParseLevel reads the text of a log level setting.
func ParseLevel(text string) (slog.Level, error) {
	switch text {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, fmt.Errorf("log level is %.20q, want debug, info, warn or error", text)
}

// Secret says whether an attribute, setting or header of that name must not be shown.
func Secret(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"token", "credential", "password", "passwd", "authorization", "secret", "cookie", "api_key", "apikey", "private_key"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

func maskSecrets(_ []string, a slog.Attr) slog.Attr {
	if Secret(a.Key) && a.Value.Kind() != slog.KindGroup {
		return slog.String(a.Key, masked)
	}
	return a
}

// traceHandler adds the ids of the context's trace to each record.
type traceHandler struct{ slog.Handler }

func (h traceHandler) Handle(ctx context.Context, r slog.Record) error {
	if t, ok := TraceFrom(ctx); ok {
		r.AddAttrs(slog.String("trace_id", string(t.TraceID)))
		if t.SpanID != "" {
			r.AddAttrs(slog.String("span_id", string(t.SpanID)))
		}
	}
	return h.Handler.Handle(ctx, r)
}

func (h traceHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return traceHandler{h.Handler.WithAttrs(attrs)}
}

func (h traceHandler) WithGroup(name string) slog.Handler {
	return traceHandler{h.Handler.WithGroup(name)}
}
