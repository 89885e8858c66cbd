package verify

import (
	"context"

	"github.com/gram-compute/gram/objstore"
)

// Left compares the files in a folder with what the job is known to have left, as Job does first. A file that is absent
// is missing. Nothing else is looked at; the error is the context's.
func Left(ctx context.Context, store objstore.Store, prefix string, asked Asked) (wrong, missing []Finding, err error) {
	v := &outputs{newLedger(nil), store, prefix, asked}
	if err := v.compareAsked(ctx); err != nil {
		return nil, nil, err
	}
	v.order()
	return v.result.False, v.result.Missing, nil
}
