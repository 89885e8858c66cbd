package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// jobLogs collects what people may want to know of a job and stores it in
// segments beside the job's objects, where it outlives the worker.
type jobLogs struct {
	w        *worker
	mu       sync.Mutex // guards buffers
	buffers  map[string]*bytes.Buffer
	flushing sync.Mutex // guards sequence, and keeps segments in order
	sequence uint64
}

const maxSegment = 256 << 10

func newJobLogs(w *worker) *jobLogs { return &jobLogs{w: w, buffers: make(map[string]*bytes.Buffer)} }

// logLine is one line of a job's log.
type logLine struct {
	Time    string  `json:"time"`
	Level   string  `json:"level"`
	Event   string  `json:"event"`
	Worker  string  `json:"worker"`
	Task    string  `json:"task"`
	Round   uint32  `json:"round,omitempty"`
	Tree    uint32  `json:"tree,omitempty"`
	Height  uint32  `json:"node_level,omitempty"`
	Index   uint32  `json:"node_index,omitempty"`
	Pieces  int     `json:"pieces,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	Verdict string  `json:"verdict,omitempty"`
	Code    string  `json:"code,omitempty"`
	Message string  `json:"message,omitempty"`
}

func (l *jobLogs) add(id *pb.TaskID, line logLine) {
	line.Time = time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")
	line.Worker, line.Task = l.w.cfg.Name, kindName(id.GetKind())
	line.Round, line.Tree, line.Height, line.Index = id.GetRound(), id.GetTree(), id.GetLevel(), id.GetIndex()
	if line.Level == "" {
		line.Level = "info"
	}
	text, err := json.Marshal(line)
	if err != nil {
		l.w.cfg.Logger.Error("log line lost", "error", err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	buffer := l.buffers[id.GetJobId()]
	if buffer == nil {
		buffer = &bytes.Buffer{}
		l.buffers[id.GetJobId()] = buffer
	}
	if buffer.Len() < maxSegment {
		buffer.Write(append(text, '\n'))
	}
}

func kindName(k pb.TaskKind) string {
	return strings.ToLower(strings.TrimPrefix(k.String(), "TASK_KIND_"))
}

func (l *jobLogs) leased(t *pb.Task) {
	l.add(t.GetId(), logLine{Event: "leased", Pieces: len(t.GetPieces())})
}

func (l *jobLogs) computed(t *pb.Task, took time.Duration) {
	l.add(t.GetId(), logLine{Event: "computed", Seconds: took.Seconds()})
}

func (l *jobLogs) abandoned(t *pb.Task) { l.add(t.GetId(), logLine{Event: "abandoned", Level: "warn"}) }

func (l *jobLogs) failed(t *pb.Task, f *pb.Failure) {
	l.add(t.GetId(), logLine{Event: "failed", Level: "error", Code: f.GetCode(), Message: f.GetMessage()})
}

func (l *jobLogs) committed(r *pb.TaskResult, v pb.Verdict) {
	verdict := strings.ToLower(strings.TrimPrefix(v.String(), "VERDICT_"))
	l.add(r.GetId(), logLine{Event: "reported", Verdict: verdict})
}

// run flushes now and then until ctx ends, apart from the heartbeat: a slow store
// must not cost leases.
func (l *jobLogs) run(ctx context.Context) {
	for sleep(ctx, time.Second) {
		l.flush(ctx)
	}
}

// flush stores what is buffered. What cannot be stored is kept for the next time.
func (l *jobLogs) flush(ctx context.Context) {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.mu.Lock()
	taken := l.buffers
	l.buffers = make(map[string]*bytes.Buffer)
	l.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(taken)) {
		l.sequence++
		key := protocol.LogKey(id, time.Now().UnixMilli(), l.w.id[:8], l.sequence)
		if _, err := l.w.store.Put(ctx, key, taken[id].Bytes()); err != nil {
			l.w.cfg.Logger.Warn("log segment not stored yet", "job", id, "error", err)
			l.putBack(id, taken[id])
		}
	}
}

func (l *jobLogs) putBack(id string, text *bytes.Buffer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if later := l.buffers[id]; later != nil && text.Len()+later.Len() <= maxSegment {
		text.Write(later.Bytes())
	}
	l.buffers[id] = text
}
