package worker

import (
	"context"
	"errors"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// refused judges a refusal by a store. Credentials are loaded anew in any case. Where the cluster's own store refuses
// too, the fault is not of the spec's store: workers use the same credentials for both, or the same server. Such a
// job waits.
func (j *job) refused(ctx context.Context, err error) error {
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeStoreDenied {
		return err
	}
	for _, in := range j.inputs {
		objstore.Refresh(in.store)
	}
	if store := j.output.opened(); store != nil {
		objstore.Refresh(store)
	}
	if fault.Class != protocol.ClassTask {
		return err
	}
	objstore.Refresh(j.w.store)
	if _, own := j.w.store.Stat(ctx, protocol.EndKey(j.id)); errors.Is(own, objstore.ErrDenied) {
		return jobStoreFault("answer, as the spec's store does", own)
	}
	return err
}

// opened is the store of the job's outputs, once it was opened.
func (o *output) opened() objstore.Store {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.store
}
