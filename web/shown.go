package web

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	pb "github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/report"
)

// Bounds on what a page shows of a job.
const (
	linesOfPage   = 100 // of its log
	eventsOfPage  = 30
	roundsOfPage  = 20 // in the table; the curve has all
	roundsOfCurve = 48
	roundsOfAsk   = 16 // whose metrics a live page asks for at a time
	bytesOfLine   = 4 << 10
)

// shown is what is known of a job for its page.
type shown struct {
	Job     *pb.Job
	Leaves  *pb.LeavesResponse   // of the open round; nil where there is none
	Course  *pb.TimelineResponse // nil before it was asked for
	Lines   []string             // the last of its log, for people
	Skipped bool                 // there are lines before these

	drawn   *report.Timeline
	drawnOf *pb.TimelineResponse // what it is made of

	found map[uint32]*pb.RoundMetrics // by round
	news  bool                        // the job is another than was shown last
	due   map[string]time.Time        // of pieces, when they may be made again
}

func newShown() *shown {
	return &shown{found: make(map[uint32]*pb.RoundMetrics), due: make(map[string]time.Time)}
}

// take notes how the job is now.
func (k *shown) take(job *pb.Job) {
	if last := k.Job; last != nil && last.GetCounters().GetRemade().GetChanges() !=
		job.GetCounters().GetRemade().GetChanges() { // rounds are made again
		clear(k.found)
	}
	k.Job, k.news = job, true
}

// addLines adds lines of the log, and keeps the last.
func (k *shown) addLines(more *pb.LogsResponse) {
	for _, line := range more.GetLines() {
		k.Lines = append(k.Lines, cutLine(lineText(line)))
	}
	k.Skipped = k.Skipped || more.GetSkipped()
	if over := len(k.Lines) - linesOfPage; over > 0 {
		k.Lines, k.Skipped = slices.Clone(k.Lines[over:]), true
	}
}

// State is the state of the job in a word.
func (k *shown) State() State { return stateOf(k.Job) }

// Doing says what the job does, or waits for, as `gram explain` does.
func (k *shown) Doing() string {
	p := k.Job.GetProgress()
	switch {
	case k.Job.GetReason() != "":
		return k.Job.GetReason()
	case k.Job.GetState() == pb.JobState_JOB_STATE_PLANNING:
		return "a worker lists its input and cuts shards"
	case k.Job.GetState() == pb.JobState_JOB_STATE_RUNNING && p.GetPhase() != "":
		return "at work on phase " + p.GetPhase()
	}
	return ""
}

// Said is the state in a sentence, for a reader that is told of its changes.
func (k *shown) Said() string {
	said := "The job is " + k.State().Word
	if doing := k.Doing(); doing != "" {
		said += ": " + doing
	}
	return said
}

// Fault is why a job failed: the message without its code, where, and who said so.
type Fault struct{ Code, Message, Task, Worker string }

// Fault is nil unless the job failed.
func (k *shown) Fault() *Fault {
	f := k.Job.GetFailure()
	if f == nil {
		return nil
	}
	message := strings.TrimPrefix(strings.TrimPrefix(f.GetMessage(), f.GetCode()), ": ")
	return &Fault{Code: f.GetCode(), Message: message, Task: f.GetTask(), Worker: f.GetWorker()}
}

// Spec is the job's spec, a field a line.
func (k *shown) Spec() string {
	var lines bytes.Buffer
	if json.Indent(&lines, []byte(k.Job.GetSpecJson()), "", "  ") != nil {
		return k.Job.GetSpecJson()
	}
	return lines.String()
}

// Took is how long the job took, or has taken: of one that has not ended in whole seconds.
func (k *shown) Took() float64 {
	row := jobRow{k.Job, k.State()}
	if row.State.Ended {
		return row.Seconds()
	}
	return float64(int64(row.Seconds()))
}

// Rounds are the last rounds that ended, the newest first.
func (k *shown) Rounds() []*pb.RoundRecord {
	all := k.Job.GetRounds()
	last := slices.Clone(all[max(0, len(all)-roundsOfPage):])
	slices.Reverse(last)
	return last
}

// timeline is what the leader remembers, with the tasks that are at work; nil where there is nothing to draw. It is
// made once for all that is drawn of it.
func (k *shown) timeline() *report.Timeline {
	if k.Course == nil {
		return nil
	}
	if k.drawnOf != k.Course {
		k.drawn, k.drawnOf = k.joined(), k.Course
	}
	return k.drawn
}

func (k *shown) joined() *report.Timeline {
	t := report.TimelineOf(k.Job, k.Course.GetTimeline())
	if running := k.Course.GetRunning(); len(running) > 0 {
		all := &pb.Timeline{Workers: k.Course.GetTimeline().GetWorkers(), Marks: running}
		if t == nil {
			t = report.TimelineOf(k.Job, all)
		} else {
			t.Marks = append(t.Marks, report.TimelineOf(k.Job, all).Marks...)
		}
	}
	return t
}
