package state

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"
)

// ErrSnapshot: the snapshot is cut short, altered, or of another format version.
var ErrSnapshot = errors.New("unreadable snapshot")

const (
	snapshotVersion = 1
	// maxSnapshotRecord leaves room for an audit of MaxLeaves pieces and as many carries, of some 60 bytes each.
	maxSnapshotRecord = 128 * MaxLeaves
)

// Encode writes s as length-prefixed records: header, jobs with their commits and
// carries, tokens, schedules, retired jobs, aliases, removed members, trailer. Equal states give equal bytes.
func (s State) Encode(w io.Writer) error {
	out := &recordWriter{w: bufio.NewWriter(w), digest: sha256.New()}
	out.write(&pb.SnapshotRecord{Body: &pb.SnapshotRecord_Header{Header: &pb.SnapshotHeader{
		Version: snapshotVersion, ClusterId: s.ClusterID, NowUnixMs: s.Now, NextJob: s.NextJob,
		RestoreEpoch: s.Epoch, HeldUnixMs: s.HeldSince, Secret: s.Secret,
	}}})
	s.EachJob(func(job *Job) bool {
		out.writeJob(job)
		return out.err == nil
	})
	s.Tokens.tree.Root().Walk(func(_ []byte, t Token) bool {
		out.write(&pb.SnapshotRecord{Body: &pb.SnapshotRecord_Token{Token: t.record()}})
		return out.err != nil
	})
	s.EachSchedule(func(sched *Schedule) bool {
		out.write(&pb.SnapshotRecord{Body: &pb.SnapshotRecord_Schedule{Schedule: sched.record()}})
		return out.err == nil
	})
	out.writeUpkeep(s)
	out.writeRemoved(s)
	s.Convicted.Each(func(c Conviction) {
		out.write(&pb.SnapshotRecord{Body: &pb.SnapshotRecord_Convicted{Convicted: c.Proto()}})
	})
	out.write(&pb.SnapshotRecord{Body: &pb.SnapshotRecord_Trailer{Trailer: &pb.SnapshotTrailer{
		Records: out.records, Sha256: out.digest.Sum(nil),
	}}})
	return out.close()
}

// Digest is the SHA-256 of the encoded state: equal on replicas at equal index.
func (s State) Digest() [32]byte {
	digest := sha256.New()
	if err := s.Encode(digest); err != nil {
		panic(err) // a hash accepts every write; a record that cannot be encoded is a bug
	}
	return [32]byte(digest.Sum(nil))
}

type recordWriter struct {
	w       *bufio.Writer
	digest  hash.Hash
	records uint64
	err     error
	framed  []byte // the last record with its length; its memory is used again
}

func (o *recordWriter) write(record *pb.SnapshotRecord) {
	if o.err != nil {
		return
	}
	options := proto.MarshalOptions{Deterministic: true}
	framed := binary.AppendUvarint(o.framed[:0], uint64(options.Size(record)))
	options.UseCachedSize = true
	framed, err := options.MarshalAppend(framed, record)
	if err != nil {
		o.err = fmt.Errorf("encode snapshot record %d: %w", o.records, err)
		return
	}
	o.framed = framed
	_, o.err = o.w.Write(framed)
	o.digest.Write(framed)
	o.records++
}

func (o *recordWriter) close() error {
	if o.err != nil {
		return o.err
	}
	return o.w.Flush()
}

func (o *recordWriter) writeJob(job *Job) {
	o.write(&pb.SnapshotRecord{Body: &pb.SnapshotRecord_Job{Job: job.record()}})
	o.writeRound(job.Rounds.Open, false)
	if job.Rounds.last.known() {
		o.writeRound(job.Rounds.last, true)
	}
	job.Audits.Each(func(a *Audit) bool {
		o.write(&pb.SnapshotRecord{Body: &pb.SnapshotRecord_Audit{Audit: a.record(job.ID)}})
		return o.err == nil
	})
}

// writeRound writes what is committed of a round, open or the last closed one, and the carries of it and for it.
// Those of the closed round are records of their own: a release that does not know it must not take them for the open
// one's.
func (o *recordWriter) writeRound(r Round, last bool) {
	r.EachCommit(func(c Commit) bool {
		commit := &pb.CommitRecord{
			Piece: &pb.Piece{Tree: c.Tree, Level: uint32(c.Node.Level), Index: uint32(c.Node.Index),
				Object: c.Object.Proto()},
			Worker: c.Worker, WorkerId: c.WorkerID, Makers: c.Makers,
		}
		record := &pb.SnapshotRecord{Body: &pb.SnapshotRecord_Commit{Commit: commit}}
		if last {
			record.Body = &pb.SnapshotRecord_LastCommit{LastCommit: commit}
		}
		o.write(record)
		return o.err == nil
	})
	o.writeCarries(r, false, last)
	o.writeCarries(r, true, last)
}

func (o *recordWriter) writeCarries(r Round, kept, last bool) {
	carries := r.carries
	if kept {
		carries = r.Kept
	}
	carries.Root().Walk(func(_ []byte, c Carry) bool {
		carry := &pb.CarryRecord{Piece: &pb.CarryPiece{Tree: c.Tree, First: c.First, End: c.End,
			Object: c.Object.Proto()}, Kept: kept}
		record := &pb.SnapshotRecord{Body: &pb.SnapshotRecord_Carry{Carry: carry}}
		if last {
			record.Body = &pb.SnapshotRecord_LastCarry{LastCarry: carry}
		}
		o.write(record)
		return o.err != nil
	})
}

// Decode reads what Encode wrote. It returns a state only when the trailer's
// count and digest are right.
func Decode(r io.Reader) (State, error) {
	in := &recordReader{r: bufio.NewReader(r), digest: sha256.New(), state: New()}
	for !in.done {
		if err := in.next(); err != nil {
			return State{}, fmt.Errorf("%w: record %d: %w", ErrSnapshot, in.records, err)
		}
	}
	if _, err := in.r.ReadByte(); !errors.Is(err, io.EOF) {
		return State{}, fmt.Errorf("%w: bytes follow the trailer", ErrSnapshot)
	}
	return in.state, nil
}

type recordReader struct {
	r       *bufio.Reader
	digest  hash.Hash
	records uint64
	state   State
	job     *Job // the job whose commits follow
	done    bool
}

func (in *recordReader) next() error {
	before := in.digest.Sum(nil)
	tee := &teeReader{r: in.r, w: in.digest}
	var record pb.SnapshotRecord
	if err := (protodelim.UnmarshalOptions{MaxSize: maxSnapshotRecord}).UnmarshalFrom(tee, &record); err != nil {
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF // only a trailer ends a snapshot
		}
		return err
	}
	if in.records == 0 {
		if v := record.GetHeader().GetVersion(); v != snapshotVersion {
			return fmt.Errorf("format version %d; this release reads %d", v, snapshotVersion)
		}
	}
	if t := record.GetTrailer(); t != nil {
		return in.finish(t, before)
	}
	in.records++
	return in.take(&record)
}

func (in *recordReader) finish(t *pb.SnapshotTrailer, digest []byte) error {
	if t.GetRecords() != in.records || !bytes.Equal(t.GetSha256(), digest) {
		return errors.New("the trailer's count or digest does not match the records")
	}
	in.closeJob()
	in.done = true
	return nil
}

func (in *recordReader) take(record *pb.SnapshotRecord) error {
	switch body := record.GetBody().(type) {
	case *pb.SnapshotRecord_Header:
		in.state.ClusterID, in.state.Now, in.state.NextJob = body.Header.GetClusterId(), body.Header.GetNowUnixMs(),
			body.Header.GetNextJob()
		in.state.Secret = body.Header.GetSecret()
		in.state.Epoch, in.state.HeldSince = body.Header.GetRestoreEpoch(), body.Header.GetHeldUnixMs()
	case *pb.SnapshotRecord_Job:
		in.closeJob()
		in.job = jobFrom(body.Job)
	case *pb.SnapshotRecord_Commit:
		return in.takeCommit(body.Commit, false)
	case *pb.SnapshotRecord_LastCommit:
		return in.takeCommit(body.LastCommit, true)
	case *pb.SnapshotRecord_Audit:
		return in.takeAudit(body.Audit)
	case *pb.SnapshotRecord_Convicted:
		c := convictionFrom(body.Convicted)
		in.state.Convicted.tree, _, _ = in.state.Convicted.tree.Insert([]byte(c.WorkerID), c)
	case *pb.SnapshotRecord_Carry:
		return in.takeCarry(body.Carry, false)
	case *pb.SnapshotRecord_LastCarry:
		return in.takeCarry(body.LastCarry, true)
	case *pb.SnapshotRecord_Token:
		in.state.Tokens = in.state.Tokens.put(tokenFrom(body.Token))
	case *pb.SnapshotRecord_Schedule:
		in.state = in.state.putSchedule(scheduleFrom(body.Schedule))
	case *pb.SnapshotRecord_Retired:
		in.state.Retired = in.state.Retired.put(retiredFrom(body.Retired))
	case *pb.SnapshotRecord_Alias:
		in.state = in.state.putAlias(aliasFrom(body.Alias))
	case *pb.SnapshotRecord_RemovedMember:
		in.state.removed, _, _ = in.state.removed.Insert([]byte(body.RemovedMember.GetId()),
			body.RemovedMember.GetNumber())
	default:
		return errors.New("unknown record; the snapshot was written by a newer release")
	}
	return nil
}

func (in *recordReader) closeJob() {
	if in.job != nil {
		in.state = in.state.putJob(in.job)
	}
	in.job = nil
}
