package worker

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// readModel reads an object of at most limit bytes. It is read once, and the job goes on
// with what was read: nobody minds if the object changes later.
func readModel(ctx context.Context, store objstore.Store, uri, name string, limit int64) ([]byte, error) {
	body, info, err := store.Get(ctx, name, objstore.GetOptions{})
	switch {
	case errors.Is(err, objstore.ErrNotFound):
		return nil, modelFault(protocol.CodeInputEmpty, uri, "there is no such object", "Check spec.model")
	case err != nil:
		return nil, dataset.StoreFault(uri, err)
	}
	defer body.Close()
	if info.Size > limit {
		return nil, modelFault(protocol.CodeStateTooBig, uri,
			fmt.Sprintf("the model has %d bytes; max_state_bytes is %d", info.Size, limit),
			"Raise run.max_state_bytes.")
	}
	data, err := io.ReadAll(io.LimitReader(body, info.Size+1))
	if err != nil {
		return nil, dataset.StoreFault(uri, err)
	}
	return data, nil
}

func modelFault(code protocol.Code, uri, what, hint string) error {
	return protocol.InputFault(code, "%s", what).In(uri).WithHint(hint)
}

// ofModel names the model that a fault is of.
func ofModel(uri string, err error) error {
	var fault *protocol.Fault
	if errors.As(err, &fault) && fault.Object == "" {
		fault.Object = uri
	}
	return err
}
