package worker

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/gram-compute/gram/objstore"
)

// probeName begins the names of the objects that probeOutput writes and deletes.
const probeName = ".gram-probe-"

// probeOutput writes to the place that the spec names for outputs and deletes from it: a job that could not keep its
// model is not to find that out at its end. A place that takes objects but does not let go of them will do; the job's
// log says which object stays behind.
func (j *job) probeOutput(ctx context.Context) error {
	if j.spec.Spec.Output.URI == "" {
		return nil // the cluster's own store, which the plan is written to
	}
	store, prefix, base, err := j.openOutput(ctx)
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
		j.w.logs.probeStays(j.id, base+"/"+key, err)
		return nil
	}
	return outputFault(base+"/"+prefix, err)
}
