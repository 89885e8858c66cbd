package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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
	mu       sync.Mutex // guards buffers and shelves
	buffers  map[string]*segment
	shelves  map[string]*shelf
	flushing chan struct{} // holds an element while somebody flushes; guards what follows, keeps segments in order
	sequence uint64
	sealed   map[string]sealedSegment // by job: the segment that the store has not acknowledged
}

// sealedSegment is not added to any more: the store may have it although its answer was lost. Stored
// again under the same key it is there once.
type sealedSegment struct {
	key  string
	text []byte
}

// segment is what waits to be stored of a job's log.
type segment struct {
	text bytes.Buffer
	lost int // lines for which there was no room
}

// shelf is what is stored of a job's log by this worker.
type shelf struct {
	segments int
	next     time.Time // when the next may follow, unless it is urgent
}

// hurry is how much a flush wants to store.
type hurry int

const (
	whenDue  hurry = iota // what has waited long enough
	urgently              // all, but leaving room for what is to come
	atTheEnd              // all: nothing is to come
)

// manyShelves is when those of jobs long over are forgotten.
const manyShelves = 1 << 12

// A worker stores at most maxSegments of a job's log, of maxSegment bytes and a line each: 128 MiB. Each
// pacedSegments of them take twice as long to fill as those before, so that the last is reached after
// weeks. Lines for which there is no room are counted, and the log says so where they are missing.
const (
	maxSegment    = 256 << 10
	maxSegments   = 512
	pacedSegments = 32
)

const (
	flushLimit = 2 * time.Second // for what must not wait long
	storeLimit = time.Minute     // for what may
)

func newJobLogs(w *worker) *jobLogs {
	return &jobLogs{w: w, buffers: make(map[string]*segment), shelves: make(map[string]*shelf),
		flushing: make(chan struct{}, 1), sealed: make(map[string]sealedSegment)}
}

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
	Again   bool    `json:"again,omitempty"` // with the worker's other kernel set
	Pieces  int     `json:"pieces,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	Verdict string  `json:"verdict,omitempty"`
	Code    string  `json:"code,omitempty"`
	Message string  `json:"message,omitempty"`
	Lines   int     `json:"lines,omitempty"` // lost before this one
}

func (l *jobLogs) add(id *pb.TaskID, line logLine) {
	line.Task = kindName(id.GetKind())
	line.Round, line.Tree, line.Height, line.Index = id.GetRound(), id.GetTree(), id.GetLevel(), id.GetIndex()
	line.Again = id.GetAgain()
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := l.buffers[id.GetJobId()]
	if waiting == nil {
		waiting = &segment{}
		l.buffers[id.GetJobId()] = waiting
	}
	if waiting.text.Len() >= maxSegment {
		waiting.lost++
		return
	}
	l.write(waiting, line)
}

func (l *jobLogs) write(to *segment, line logLine) {
	line.Time = time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")
	line.Worker = l.w.cfg.Name
	if line.Level == "" {
		line.Level = "info"
	}
	text, err := json.Marshal(line)
	if err != nil { // a bug: every field has a form in JSON
		l.w.cfg.Logger.Error("log line lost", "error", err)
		return
	}
	to.text.Write(append(text, '\n'))
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

// probeStays tells of an object that was written to try the output place and could not be deleted.
func (l *jobLogs) probeStays(jobID, uri string, err error) {
	l.add(&pb.TaskID{JobId: jobID, Kind: pb.TaskKind_TASK_KIND_PLAN}, logLine{Event: "probe stays", Level: "warn",
		Message: fmt.Sprintf("%s was written to try the output place and cannot be deleted: %v", uri, err)})
}

func (l *jobLogs) committed(r *pb.TaskResult, v pb.Verdict) {
	verdict := strings.ToLower(strings.TrimPrefix(v.String(), "VERDICT_"))
	l.add(r.GetId(), logLine{Event: "reported", Verdict: verdict})
}

// run flushes now and then until ctx ends, apart from the heartbeat: a slow store
// must not cost leases.
func (l *jobLogs) run(ctx context.Context) {
	for sleep(ctx, time.Second) {
		limited, cancel := context.WithTimeout(ctx, storeLimit)
		l.store(limited, whenDue)
		cancel()
	}
}

// flushNow stores what is buffered even when ctx has ended, but does not wait long for a slow store.
func (l *jobLogs) flushNow(ctx context.Context, h hurry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushLimit)
	defer cancel()
	l.store(ctx, h)
}

// flush stores what is buffered.
func (l *jobLogs) flush(ctx context.Context) { l.store(ctx, urgently) }

// admits reports whether another segment may be stored; a nil shelf is empty.
func (s *shelf) admits(h hurry, now time.Time) bool {
	if s == nil {
		return true
	}
	due := s.segments < maxSegments-1 && !now.Before(s.next)
	switch h {
	case urgently:
		return due || s.segments < maxSegments/2
	case atTheEnd:
		return s.segments < maxSegments
	}
	return due
}

// shelved notes that a segment is stored.
func (l *jobLogs) shelved(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.shelves[id]
	if s == nil {
		s = &shelf{}
		l.shelves[id] = s
	}
	if len(l.shelves) > manyShelves { // those of jobs long over
		maps.DeleteFunc(l.shelves, func(job string, s *shelf) bool {
			return job != id && l.buffers[job] == nil && time.Since(s.next) > time.Hour
		})
	}
	s.segments++
	s.next = time.Now().Add(time.Second<<(s.segments/pacedSegments) - time.Second/2) // looked at each second
}

// store stores what may be. What cannot be stored is kept for the next time; lines that come
// meanwhile wait behind it.
func (l *jobLogs) store(ctx context.Context, h hurry) {
	if !l.takeTurn(ctx) {
		return
	}
	defer func() { <-l.flushing }()
	l.storeSealed(ctx, slices.Sorted(maps.Keys(l.sealed)))
	l.storeSealed(ctx, l.seal(h))
}

// takeTurn waits while another flush is kept by the store; a turn that is free is taken whatever ctx says,
// so that what is buffered is sealed.
func (l *jobLogs) takeTurn(ctx context.Context) bool {
	select {
	case l.flushing <- struct{}{}:
		return true
	default:
	}
	select {
	case l.flushing <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// seal closes the segments that may be stored, of the jobs that have none waiting, and returns which.
func (l *jobLogs) seal(h hurry) (sealed []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for _, id := range slices.Sorted(maps.Keys(l.buffers)) {
		if _, waits := l.sealed[id]; waits || !l.shelves[id].admits(h, now) {
			continue
		}
		full := l.buffers[id]
		delete(l.buffers, id)
		if full.lost > 0 {
			l.write(full, logLine{Event: "lost", Level: "warn", Lines: full.lost,
				Message: "there was no room for this worker's log lines: they were too many, or the store was slow"})
		}
		l.sequence++
		l.sealed[id] = sealedSegment{protocol.LogKey(id, time.Now().UnixMilli(), l.w.id[:8], l.sequence),
			full.text.Bytes()}
		sealed = append(sealed, id)
	}
	return sealed
}

func (l *jobLogs) storeSealed(ctx context.Context, jobs []string) {
	for _, id := range jobs {
		if _, err := l.w.store.Put(ctx, l.sealed[id].key, l.sealed[id].text); err != nil {
			l.w.cfg.Logger.Warn("log segment not stored yet", "job", id, "error", err)
			continue
		}
		delete(l.sealed, id)
		l.shelved(id)
	}
}
