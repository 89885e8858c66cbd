// Package audit writes down who did what: one line of JSON for each call that changes something, for
// each decision of the leader, and for each refusal. It holds no secrets and no specs.
package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

// Result is how a call ended.
type Result string

// Results. Unknown: the call may or may not have been committed.
const (
	OK      Result = "ok"
	Refused Result = "refused"
	Unknown Result = "unknown"
)

// Record is one line.
type Record struct {
	Time   time.Time `json:"time"`   // UTC, of the member that wrote it
	Member string    `json:"member"` // that member
	Who    string    `json:"who"`    // "token ID", "certificate ROLE", "schedule ID", "leader" or "stranger"
	What   string    `json:"what"`   // a procedure, "JobService.Submit", or a command, "fire_tick"
	Object string    `json:"object,omitempty"`
	Result Result    `json:"result"`
	Reason string    `json:"reason,omitempty"` // of a refusal, or why a tick was skipped
	// Source is the caller's address, Via the member that handed the call on.
	Source    string `json:"source,omitempty"`
	Via       string `json:"via,omitempty"`
	RaftIndex uint64 `json:"raft_index,omitempty"` // of the entry that the call became
	// Suppressed are the refusals left out since the line before, for there were too many.
	Suppressed uint64 `json:"suppressed,omitempty"`
}

// maxField bounds each text of a line: some are a caller's.
const maxField = 256

// Log takes records from any goroutine. A nil one discards them.
type Log struct {
	mu         sync.Mutex
	to         io.WriteCloser
	complain   *slog.Logger
	refusals   bucket
	counts     Counts
	suppressed uint64 // since the last line
	closed     bool
}

// Counts are facts since the log was opened.
type Counts struct {
	Written    uint64
	Suppressed uint64 // refusals left out
	Failed     uint64 // lines that could not be written
}

// New writes to w, which Close closes. What it cannot write is told to complain and counted.
func New(w io.WriteCloser, complain *slog.Logger) *Log { return &Log{to: w, complain: complain} }

// Write adds a line. Refusals are bounded, so that strangers do not fill the disk or push out
// what others did; what is left out is counted.
func (l *Log) Write(r Record) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if r.Result != OK && !l.refusals.take(r.Time) {
		l.suppressed++
		l.counts.Suppressed++
		return
	}
	r.Time = r.Time.UTC()
	r.Suppressed = l.suppressed
	for _, text := range []*string{&r.Who, &r.What, &r.Object, &r.Reason, &r.Source, &r.Via} {
		*text = clip(*text)
	}
	line, err := json.Marshal(r)
	if err == nil {
		_, err = l.to.Write(append(line, '\n'))
	}
	if err != nil {
		l.counts.Failed++
		l.complain.Error("audit line not written", "error", err)
		return
	}
	l.suppressed = 0
	l.counts.Written++
}

// Counts returns the facts so far.
func (l *Log) Counts() Counts {
	if l == nil {
		return Counts{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// Close ends the log; later records are discarded.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	if err := l.to.Close(); err != nil {
		return fmt.Errorf("close the audit log: %w", err)
	}
	return nil
}

func clip(s string) string {
	if len(s) <= maxField {
		return s
	}
	return s[:maxField-3] + "..." // cut through a character, json.Marshal writes U+FFFD
}

const (
	burst     = 200 // refusals written at once
	perSecond = 10  // and from then on
)

// bucket lets through a burst, then a number a second.
type bucket struct {
	used float64 // of burst
	last time.Time
}

func (b *bucket) take(now time.Time) bool {
	if since := now.Sub(b.last).Seconds(); since > 0 {
		b.used = max(0, b.used-float64(since*perSecond))
	}
	b.last = now
	if b.used+1 > burst {
		return false
	}
	b.used++
	return true
}
