package omni_test

import (
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// benchText is 300 bytes of what a model says: words, and what is not written as it is, quotes and a line end, and letters of other scripts.
var benchText = strings.Repeat("I read \"a, b\" as one: 一个信封、三类消息.\nNext is the reader. Words go on. ", 4)[:300]

var benchTime = time.Date(2026, 7, 18, 7, 30, 0, 250e6, time.UTC)

// BenchmarkEncode is the way of a text from its constructor to its line, checked as New does.
func BenchmarkEncode(b *testing.B) {
	rate(b, func() error {
		_, err := omni.New(benchTime, omni.AssistantText(benchText))
		return err
	})
}

// BenchmarkDecode is the way of a line to a message, whose form is checked; to one that is right in all fields; and to its payload after that.
func BenchmarkDecode(b *testing.B) {
	line := made(b, omni.AssistantText(benchText)).Bytes()
	read := func(b *testing.B, use func(omni.Message) error) {
		b.Helper()
		rate(b, func() error {
			m, err := omni.Decode(line)
			if err != nil {
				return err
			}
			return use(m)
		})
	}
	b.Run("form", func(b *testing.B) { read(b, func(omni.Message) error { return nil }) })
	b.Run("valid", func(b *testing.B) { read(b, omni.Message.Validate) })
	b.Run("body", func(b *testing.B) {
		read(b, func(m omni.Message) error {
			if err := m.Validate(); err != nil {
				return err
			}
			_, err := m.Body()
			return err
		})
	})
}

func rate(b *testing.B, once func() error) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		if err := once(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}
