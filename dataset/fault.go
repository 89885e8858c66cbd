package dataset

import (
	"context"
	"errors"
	"fmt"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// StoreFault says what a store's error on an input object means to a job. A
// *protocol.Fault and the end of a context pass through unchanged; nil stays nil.
//
//	ErrChanged, ErrNotFound, ErrRange  INPUT_CHANGED  class input: not the bytes that were planned
//	ErrDenied                          STORE_DENIED   class task: another worker may have the right
//	ErrInvalidKey, ErrInvalidURI       SPEC_INVALID   class input
//	anything else                      STORE          class infrastructure: try again
//
// For an object that was never pinned, look for objstore.ErrNotFound first.
func StoreFault(object string, err error) error {
	var fault *protocol.Fault
	switch {
	case err == nil || errors.As(err, &fault):
		return err
	case errors.Is(err, objstore.ErrChanged), errors.Is(err, objstore.ErrNotFound), errors.Is(err, objstore.ErrRange):
		return inputFault(protocol.CodeInputChanged, object, err, "the object is not the one that was planned",
			"Submit the job again to plan it over the input as it is now")
	case errors.Is(err, objstore.ErrDenied):
		return protocol.TaskFault(protocol.CodeStoreDenied, "the store refuses to hand out the input").In(object).
			Because(err).
			WithHint("Give the workers credentials that may list and read it")
	case errors.Is(err, objstore.ErrInvalidKey), errors.Is(err, objstore.ErrInvalidURI):
		return inputFault(protocol.CodeSpecInvalid, object, err, "the store has no such names",
			"Correct spec.input.uri")
	case errors.Is(err, objstore.ErrUnavailable):
		return storeUnwell(object, err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return storeUnwell(object, err)
}

// OpenFault says what it means that this process cannot open the store of an input or
// output. It is class task, for another worker may have the credentials, the folder
// or the --file-root that this one lacks.
func OpenFault(uri string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, objstore.ErrUnavailable) {
		return StoreFault(uri, err)
	}
	return protocol.TaskFault(protocol.CodeStoreDenied, "this process cannot open it").In(uri).
		Because(err).
		WithHint("Check the URI, and that every worker has the credentials or the --file-root for it")
}

// OpenURI opens the store of an object or prefix to read, by open, and returns the name there. Its errors are those of
// StoreFault and OpenFault.
func OpenURI(
	ctx context.Context, uri string, open func(ctx context.Context, storeURI string) (objstore.Store, error),
) (store objstore.Store, name string, err error) {
	storeURI, name, err := objstore.SplitObjectURI(uri)
	if err != nil {
		return nil, "", StoreFault(uri, err)
	}
	if store, err = open(ctx, storeURI); err != nil {
		return nil, "", OpenFault(uri, err)
	}
	return store, name, nil
}

// CheckURI refuses a URI that no process could open, as a fault of SPEC_INVALID.
// field is what the spec calls it.
func CheckURI(field, uri string) error {
	_, _, err := objstore.SplitObjectURI(uri)
	if err == nil {
		return nil
	}
	return inputFault(protocol.CodeSpecInvalid, "", err, fmt.Sprintf("%s: %v", field, err),
		"Write s3://bucket/key or file:///absolute/path")
}

func storeUnwell(object string, err error) error {
	return protocol.InfrastructureFault(protocol.CodeStore, "the store did not deliver the input").In(object).
		Because(err)
}

func inputFault(code protocol.Code, object string, err error, what, hint string) *protocol.Fault {
	return protocol.InputFault(code, "%s", what).In(object).Because(err).WithHint(hint)
}
