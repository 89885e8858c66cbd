package checker

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/encoding/protodelim"
)

// objects is I8: what the replicated state refers to, and where objects lie at all.
func objects(ctx context.Context, e *Evidence, v *verdict) error {
	records, err := decided(e.Backup)
	if err != nil {
		return err
	}
	all, err := e.scan(ctx)
	if err != nil {
		return err
	}
	there, leaving := make(map[string]bool), e.leaving()
	var job subject
	for _, r := range records {
		var refs []made
		switch body := r.GetBody().(type) {
		case *pb.SnapshotRecord_Job:
			job = subject{body.Job, leaving[body.Job.GetSpec().GetId()]}
			there[job.id()] = true
			refs = refsOf(body.Job)
			job.outputs(e, v)
		case *pb.SnapshotRecord_Commit:
			refs = append(refs, made{job.GetRound(), body.Commit.GetPiece().GetObject()})
		case *pb.SnapshotRecord_Carry:
			round := job.GetRound()
			if body.Carry.GetKept() {
				round = before(round)
			}
			refs = append(refs, made{round, body.Carry.GetPiece().GetObject()})
		}
		job.needs(e, v, refs)
	}
	sameJobs(e, v, there, leaving)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		v.must(strings.HasPrefix(key, e.Own) || strings.HasPrefix(key, e.Given), "somebody wrote %s", key)
	}
	return nil
}

// subject is the job that records of a backup are about.
type subject struct {
	*pb.JobRecord
	leaving bool
}

func (s subject) id() string { return s.GetSpec().GetId() }

// needs looks for objects that the job refers to.
func (s subject) needs(e *Evidence, v *verdict, refs []made) {
	for _, ref := range refs {
		if s.leaving || len(ref.GetSha256()) != sha256.Size {
			continue
		}
		key := e.Own + protocol.ObjectKey(s.id(), ref.round, [32]byte(ref.GetSha256()))
		if s.GetState() != pb.JobState_JOB_STATE_SUCCEEDED && e.Vanished[key] {
			v.ok() // nobody missed it before the job was canceled
			continue
		}
		holds(e, v, "job "+s.id(), key, ref.GetSha256(), ref.GetSize())
	}
}

// outputs looks for the job's output files.
func (s subject) outputs(e *Evidence, v *verdict) {
	for _, f := range s.GetOutputs() {
		if !s.leaving {
			output(e, v, s.id(), f)
		}
	}
}

// sameJobs compares the jobs of the backup with those of the API.
func sameJobs(e *Evidence, v *verdict, there, leaving map[string]bool) {
	listed := make(map[string]bool)
	for _, job := range e.Jobs {
		id := job.GetId()
		listed[id] = true
		v.must(there[id] || leaving[id], "the API has job %s, and the backup does not", id)
	}
	for _, id := range slices.Sorted(maps.Keys(there)) {
		v.must(listed[id], "the backup has job %s, and the API does not", id)
	}
}

// decided reads a backup: records, each behind its length.
func decided(backup []byte) ([]*pb.SnapshotRecord, error) {
	var records []*pb.SnapshotRecord
	from := bufio.NewReader(bytes.NewReader(backup))
	for {
		r := &pb.SnapshotRecord{}
		err := protodelim.UnmarshalOptions{MaxSize: 64 << 20}.UnmarshalFrom(from, r)
		switch {
		case errors.Is(err, io.EOF) && len(records) > 0:
			return records, nil
		case err != nil:
			return nil, fmt.Errorf("record %d of the backup: %w", len(records), err)
		}
		records = append(records, r)
	}
}

// made is an object and the round that made it, which is part of its key; 0 is the plan.
type made struct {
	round uint32
	*pb.ObjectRef
}

func before(round uint32) uint32 { return max(round, 1) - 1 }

// refsOf are the objects that a job cannot do without, or that people may look at. The states of
// rounds that are over are left out: their digests stay, their objects need not.
func refsOf(job *pb.JobRecord) []made {
	refs := []made{{0, job.GetManifest()}, {0, job.GetPlan()}, {job.GetRound(), job.GetModel()}}
	if job.GetState() != pb.JobState_JOB_STATE_SUCCEEDED {
		refs = append(refs, made{before(job.GetRound()), job.GetStateObject()})
	}
	for _, round := range job.GetRounds() {
		if round.GetRound() >= job.GetSinceRound() { // what earlier ones made is garbage once the rounds began anew
			refs = append(refs, made{round.GetRound(), round.GetMetrics()})
		}
	}
	return refs
}

func output(e *Evidence, v *verdict, job string, f *pb.OutputFile) {
	key, ok := strings.CutPrefix(f.GetUri(), "s3://"+e.Bucket+"/")
	if !ok {
		v.fail("job %s: output %s is at %s", job, f.GetName(), f.GetUri())
		return
	}
	holds(e, v, "job "+job+", output "+f.GetName(), key, f.GetSha256(), f.GetSize())
}

// holds compares an object with what was decided.
func holds(e *Evidence, v *verdict, what, key string, digest []byte, size int64) {
	if e.Damaged[key] { // by the run itself: what the cluster makes of it, the models show
		v.ok()
		return
	}
	o, there := e.objects[key]
	if !there || o.absent {
		v.fail("%s: %s is not in the store", what, key)
		return
	}
	v.must(bytes.Equal(o.sum[:], digest) && o.size == size, "%s: %s has %d bytes of SHA-256 %x, decided were %d of %s",
		what, key, o.size, o.sum[:8], size, hex.EncodeToString(digest[:min(8, len(digest))]))
}
