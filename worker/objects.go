package worker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gram-compute/gram/internal/faults"
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
	return w.put(ctx, by, faults.Lie(a.Encode()))
}

// readPauses are the pauses before a job object is read again that is missing or damaged: a store may lag, and a
// flipped bit may come from the network, or from one connection.
var readPauses = []time.Duration{50 * time.Millisecond, 250 * time.Millisecond, time.Second}

// get reads a job object whole and checks its digest.
func (w *worker) get(ctx context.Context, by made, ref *pb.ObjectRef) ([]byte, error) {
	advance(ctx)
	if len(ref.GetSha256()) != sha256.Size {
		return nil, fmt.Errorf("a task refers to an object without a digest")
	}
	for _, pause := range readPauses {
		data, err := w.getOnce(ctx, by, ref)
		var fault *protocol.Fault
		if err == nil || !errors.As(err, &fault) || fault.Lost == nil {
			return data, err
		}
		w.cfg.Logger.Warn("a job object cannot be read; trying again", "error", err)
		objstore.Refresh(w.store)
		if !sleep(ctx, pause) {
			return nil, context.Cause(ctx)
		}
	}
	return w.getOnce(ctx, by, ref)
}

func (w *worker) getOnce(ctx context.Context, by made, ref *pb.ObjectRef) ([]byte, error) {
	want := [sha256.Size]byte(ref.GetSha256())
	key := protocol.ObjectKey(by.jobID, by.round, want)
	lost := func(what string, err error) error {
		fault := protocol.TaskFault(protocol.CodeLost, "%s", what).In(key).Because(err).
			WithHint("What is lost is made again.")
		fault.Lost = &protocol.LostObject{Round: by.round, SHA256: want, Size: ref.GetSize()}
		return fault
	}
	body, info, err := w.store.Get(ctx, key, objstore.GetOptions{})
	if errors.Is(err, objstore.ErrNotFound) {
		return nil, lost("the store does not have the job object", err)
	}
	if err != nil {
		return nil, jobStoreFault("deliver a job object", err)
	}
	defer body.Close()
	if info.Size != ref.GetSize() {
		return nil, lost(fmt.Sprintf("it has %d bytes, not %d", info.Size, ref.GetSize()), nil)
	}
	data := make([]byte, info.Size)
	if _, err := io.ReadFull(advancingReader{ctx, body}, data); err != nil {
		return nil, jobStoreFault("deliver a job object", fmt.Errorf("read %s: %w", key, err))
	}
	if sha256.Sum256(data) != want {
		return nil, lost("its bytes do not have the digest in its name", nil)
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

// jobStoreFault says what an error of the cluster's own store means to a task. All workers share that store, and it
// served them before: a refusal passes when a key is replaced or a clock is set right, so it is class infrastructure.
func jobStoreFault(doing string, err error) error {
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, objstore.ErrDenied):
		return protocol.InfrastructureFault(protocol.CodeStoreDenied, "the cluster's store refuses to %s", doing).
			Because(err).
			WithHint("Check the workers' credentials for it, and the clocks.")
	}
	return protocol.InfrastructureFault(protocol.CodeStore, "the cluster's store did not %s", doing).Because(err)
}
