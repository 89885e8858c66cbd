// Package show turns the protocol's messages into what gram prints: JSON with stable names, and words,
// times and sizes for people.
//
// What -o json prints is declared here and is not the messages' own JSON: its names are stable since schema_version 1,
// while fields of messages may be renamed; protojson prints 64-bit numbers as strings, digests in base64 and times in
// milliseconds since 1970; and some fields are for people (seconds, role, state). TestViewsHaveEveryField fails when a
// message has a field that is not printed.
package show

import (
	"fmt"
	"strings"
	"time"

	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
)

// StateName is a state as people know it: "Running".
func StateName(state gramv1.JobState) string { return enumWord(state.String(), "JOB_STATE_") }

func enumWord(name, prefix string) string {
	word := strings.ToLower(strings.TrimPrefix(name, prefix))
	if word == "" {
		return word
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

func seconds(fromMs, toMs int64) float64 { return float64(max(toMs-fromMs, 0)) / 1e3 }

// Timestamp is an instant in UTC to the millisecond; "" for 0.
func Timestamp(unixMs int64) string {
	if unixMs == 0 {
		return ""
	}
	return time.UnixMilli(unixMs).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// Size writes bytes for people.
func Size(bytes int64) string {
	const unit = 1024
	switch {
	case bytes < unit:
		return protocol.ByteSize(bytes).String()
	case bytes < unit*unit:
		return fmt.Sprintf("%.1fKiB", float64(bytes)/unit)
	case bytes < unit*unit*unit:
		return fmt.Sprintf("%.1fMiB", float64(bytes)/(unit*unit))
	}
	return fmt.Sprintf("%.1fGiB", float64(bytes)/(unit*unit*unit))
}

// Bytes is size for a sum, which no int64 need hold.
func Bytes(n uint64) string {
	return Size(int64(min(n, 1<<62)))
}

// Clock is an instant in UTC, to the second.
func Clock(unixMs int64) string { return time.UnixMilli(unixMs).UTC().Format(time.RFC3339) }

// Milliseconds is a duration.
func Milliseconds(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }
