package worker

import (
	"context"
	"crypto/rand"
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
	w     *worker
	id    string
	named string // spec.output.uri; "" means the cluster's own store

	mu     sync.Mutex
	store  objstore.Store // nil until it is opened
	prefix string
	base   string
}

// newOutput is the folder of a job under a spec.
func newOutput(w *worker, id string, spec protocol.JobSpec) *output {
	return &output{w: w, id: id, named: spec.Spec.Output.URI}
}

func (o *output) open(ctx context.Context) (store objstore.Store, prefix, base string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.store != nil:
	case o.named == "":
		o.store, o.prefix, o.base = o.w.store, protocol.OutputPrefix(o.id), o.w.storeAt
	default:
		storeURI, prefix, err := objstore.SplitObjectURI(o.named)
		if err != nil {
			return nil, "", "", dataset.StoreFault(o.named, err)
		}
		if prefix != "" && !strings.HasSuffix(prefix, "/") {
			prefix += "/"
		}
		store, err := o.w.cfg.OpenStore(ctx, storeURI)
		if err != nil {
			return nil, "", "", dataset.OpenFault(o.named, err)
		}
		o.store, o.prefix, o.base = store, prefix+o.id+"/", storeURI
	}
	return o.store, o.prefix, o.base, nil
}

// probeName begins the names of the objects that probe writes and deletes.
const probeName = ".gram-probe-"

// probe writes to the place that the spec names for outputs and deletes from it: a job that could not keep its
// model is not to find that out at its end. A place that takes objects but does not let go of them will do; the job's
// log says which object stays behind.
func (o *output) probe(ctx context.Context) error {
	if o.named == "" {
		return nil // the cluster's own store, which the plan is written to
	}
	store, prefix, base, err := o.open(ctx)
	if err != nil {
		return err
	}
	key := prefix + probeName + rand.Text()
	if _, err := store.Put(ctx, key, []byte("gram tries whether it may write here\n")); err != nil {
		return outputFault(base+"/"+prefix, err)
	}
	err = store.Delete(ctx, key)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, objstore.ErrDenied):
		o.w.logs.probeStays(o.id, base+"/"+key, err)
		return nil
	}
	return outputFault(base+"/"+prefix, err)
}

// again says how an attempt treats what it finds in its place in the cluster's own store.
type again int

const (
	sameBytes again = iota // every attempt makes the same bytes: others are somebody else's, and stay
	// each attempt makes its own, as of a report with times, or corrects one that was wrong: the last counts
	otherBytes
)

// write puts one file into the job's folder. Below the cluster's own prefix nothing is replaced that this job
// did not write; at a place that a user named, the user decides what is there.
func (o *output) write(ctx context.Context, name string, data []byte, attempts again) (*pb.OutputFile, error) {
	store, prefix, base, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	defer advance(ctx)
	put := objstore.PutNew
	switch {
	case o.named != "":
		put = func(ctx context.Context, s objstore.Store, key string, data []byte) (objstore.Info, error) {
			return s.Put(ctx, key, data)
		}
	case attempts == otherBytes:
		put = objstore.Replace
	}
	uri := base + "/" + prefix + name
	if _, err := put(ctx, store, prefix+name, data); err != nil {
		if o.named == "" && !errors.Is(err, objstore.ErrExists) {
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
func (o *output) emit(ctx context.Context, name string, data []byte) (jobs.File, error) {
	written, err := o.write(ctx, name, data, sameBytes)
	if fault, ok := errors.AsType[*protocol.Fault](err); ok && fault.Code == protocol.CodeOutputTaken {
		if err := o.w.stillMine(ctx); err != nil {
			return jobs.File{}, err
		}
		o.w.cfg.Logger.Warn("a file of the job has other bytes than an earlier attempt wrote, and is replaced",
			"job", o.id, "file", fault.Object)
		written, err = o.write(ctx, name, data, otherBytes)
	}
	if err != nil {
		return jobs.File{}, err
	}
	return jobs.File{Name: name, SHA256: hex.EncodeToString(written.GetSha256()), Size: written.GetSize()}, nil
}

// maxOutputBytes bounds a file that read reads: a record of as many nodes as a round of the most leaves has.
const maxOutputBytes = 80 << 20

// read reads a file beside the model. One that is not there is a fault of CodeLost.
func (o *output) read(ctx context.Context, name string) ([]byte, error) {
	store, prefix, base, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	uri := base + "/" + prefix + name
	data, _, err := objstore.ReadAll(ctx, store, prefix+name, objstore.GetOptions{}, maxOutputBytes)
	if errors.Is(err, objstore.ErrNotFound) {
		return nil, protocol.TaskFault(protocol.CodeLost, "a file is gone from beside the model").In(uri).Because(err)
	}
	if err != nil {
		return nil, outputFault(uri, err)
	}
	return data, nil
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
