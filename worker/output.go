package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"sync"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
	pb "github.com/gram-compute/gram/protocol/gramv1"
)

// output is the folder of a job's outputs: below the spec's output URI, or beside the job
// objects. The job's id is part of it: nothing is ever overwritten by another job.
type output struct {
	mu     sync.Mutex
	store  objstore.Store // nil until it is opened
	prefix string
	base   string
}

func (j *job) openOutput(ctx context.Context) (store objstore.Store, prefix, base string, err error) {
	o := &j.output
	o.mu.Lock()
	defer o.mu.Unlock()
	uri := j.spec.Spec.Output.URI
	switch {
	case o.store != nil:
	case uri == "":
		o.store, o.prefix, o.base = j.w.store, protocol.OutputPrefix(j.id), j.w.storeAt
	default:
		storeURI, prefix, err := objstore.SplitObjectURI(uri)
		if err != nil {
			return nil, "", "", dataset.StoreFault(uri, err)
		}
		if prefix != "" && !strings.HasSuffix(prefix, "/") {
			prefix += "/"
		}
		store, err := j.w.cfg.OpenStore(ctx, storeURI)
		if err != nil {
			return nil, "", "", dataset.OpenFault(uri, err)
		}
		o.store, o.prefix, o.base = store, prefix+j.id+"/", storeURI
	}
	return o.store, o.prefix, o.base, nil
}

// again says how an attempt treats what it finds in its place in the cluster's own store.
type again int

const (
	sameBytes again = iota // every attempt makes the same bytes: others are somebody else's, and stay
	// each attempt makes its own, as of a report with times, or corrects one that was wrong: the last counts
	otherBytes
)

// writeOutput puts one file into the job's folder. Below the cluster's own prefix nothing is replaced that this job
// did not write; at a place that a user named, the user decides what is there.
func (j *job) writeOutput(ctx context.Context, name string, data []byte, attempts again) (*pb.OutputFile, error) {
	store, prefix, base, err := j.openOutput(ctx)
	if err != nil {
		return nil, err
	}
	defer advance(ctx)
	put := objstore.PutNew
	switch {
	case j.spec.Spec.Output.URI != "":
		put = func(ctx context.Context, s objstore.Store, key string, data []byte) (objstore.Info, error) {
			return s.Put(ctx, key, data)
		}
	case attempts == otherBytes:
		put = objstore.Replace
	}
	uri := base + "/" + prefix + name
	if _, err := put(ctx, store, prefix+name, data); err != nil {
		if j.spec.Spec.Output.URI == "" && !errors.Is(err, objstore.ErrExists) {
			return nil, jobStoreFault("take the output", err)
		}
		return nil, outputFault(uri, err)
	}
	sum := sha256.Sum256(data)
	return &pb.OutputFile{Name: name, Uri: uri, Sha256: sum[:], Size: int64(len(data))}, nil
}

// emit writes a file for a phase. The coordinator hears nothing of parts: there may be very
// many, and the phase's own index, which it does hear of, names them.
//
// Other bytes in its place are of another attempt at this job: a worker that computes wrongly has made one of the two,
// or what it was made from. Audits compare the digests later, and have the wrong one made again, so that the right one
// is written last. To keep an older attempt from writing after that, an attempt asks first whether its lease still
// holds.
func (j *job) emit(ctx context.Context, name string, data []byte) (jobs.File, error) {
	written, err := j.writeOutput(ctx, name, data, sameBytes)
	if fault, ok := errors.AsType[*protocol.Fault](err); ok && fault.Code == protocol.CodeOutputTaken {
		if err := j.w.stillMine(ctx); err != nil {
			return jobs.File{}, err
		}
		j.w.cfg.Logger.Warn("a file of the job has other bytes than an earlier attempt wrote, and is replaced",
			"job", j.id, "file", fault.Object)
		written, err = j.writeOutput(ctx, name, data, otherBytes)
	}
	if err != nil {
		return jobs.File{}, err
	}
	return jobs.File{Name: name, SHA256: hex.EncodeToString(written.GetSha256()), Size: written.GetSize()}, nil
}

// outputFault is class task unless the store is only unreachable: another worker may have the right.
func outputFault(uri string, err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, objstore.ErrUnavailable):
		return protocol.InfrastructureFault(protocol.CodeStore, "the store did not take the output").In(uri).
			Because(err)
	}
	if errors.Is(err, objstore.ErrExists) {
		return protocol.InputFault(protocol.CodeOutputTaken,
			"another object is in the place of this output, with other bytes; it stays as it is").In(uri).
			Because(err).
			WithHint("Submit the job under another id, or remove the object if nobody needs it")
	}
	return protocol.TaskFault(protocol.CodeStoreDenied,
		"the output place cannot be written to, or not deleted from").In(uri).
		Because(err).
		WithHint("Check spec.output.uri and the workers' rights")
}
