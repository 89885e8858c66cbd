package worker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// made names the objects that a round of a job made; round 0 is the plan.
type made struct {
	jobID string
	round uint32
}

// put stores a job object under its content's key: plain, and safe to repeat.
func (w *worker) put(ctx context.Context, by made, data []byte) (*pb.ObjectRef, error) {
	defer advance(ctx)
	sum := sha256.Sum256(data)
	if _, err := w.store.Put(ctx, protocol.ObjectKey(by.jobID, by.round, sum), data); err != nil {
		return nil, jobStoreFault("keep a job object", err)
	}
	return &pb.ObjectRef{Sha256: sum[:], Size: int64(len(data))}, nil
}

func (w *worker) putArrays(ctx context.Context, by made, a jobs.Arrays) (*pb.ObjectRef, error) {
	return w.put(ctx, by, a.Encode())
}

// get reads a job object whole and holds it against its digest.
func (w *worker) get(ctx context.Context, by made, ref *pb.ObjectRef) ([]byte, error) {
	advance(ctx)
	if len(ref.GetSha256()) != sha256.Size {
		return nil, fmt.Errorf("a task refers to an object without a digest")
	}
	want := [sha256.Size]byte(ref.GetSha256())
	key := protocol.ObjectKey(by.jobID, by.round, want)
	body, info, err := w.store.Get(ctx, key, objstore.GetOptions{})
	if err != nil {
		return nil, readFault(err)
	}
	defer body.Close()
	if info.Size != ref.GetSize() {
		return nil, corrupt(key, fmt.Sprintf("it has %d bytes, not %d", info.Size, ref.GetSize()))
	}
	data := make([]byte, info.Size)
	if _, err := io.ReadFull(advancingReader{ctx, body}, data); err != nil {
		return nil, readFault(fmt.Errorf("read %s: %w", key, err))
	}
	if sha256.Sum256(data) != want {
		return nil, corrupt(key, "its bytes do not have the digest in its name")
	}
	return data, nil
}

func (w *worker) getArrays(ctx context.Context, by made, ref *pb.ObjectRef) (jobs.Arrays, error) {
	data, err := w.get(ctx, by, ref)
	if err != nil {
		return nil, err
	}
	return jobs.Decode(data)
}

func corrupt(key, what string) error {
	return &protocol.Fault{Code: protocol.CodeCorrupt, Class: protocol.ClassTask, Object: key, Offset: -1, What: what,
		Hint: "The store returns other bytes than were written."}
}

// jobStoreFault says what an error of the cluster's own store means to a task. A
// worker without the right to it may be the only one, so it is tried on another.
func jobStoreFault(doing string, err error) error {
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, objstore.ErrDenied):
		return &protocol.Fault{Code: protocol.CodeStoreDenied, Class: protocol.ClassTask, Offset: -1,
			What: "the cluster's store refuses to " + doing, Err: err}
	}
	return &protocol.Fault{Code: protocol.CodeStore, Class: protocol.ClassInfrastructure, Offset: -1,
		What: "the cluster's store did not " + doing, Err: err}
}

// readFault is jobStoreFault for reading, where an object that is not there has been lost.
func readFault(err error) error {
	if errors.Is(err, objstore.ErrNotFound) {
		return &protocol.Fault{Code: protocol.CodeCorrupt, Class: protocol.ClassTask, Offset: -1, What: "a job object is missing", Err: err}
	}
	return jobStoreFault("deliver a job object", err)
}
