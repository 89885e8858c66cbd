package dataset

import (
	"context"
	"errors"
	"testing"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

func TestCheckURI(t *testing.T) {
	for uri, good := range map[string]bool{"s3://bucket/key": true, "file:///a/b": true, "": false,
		"bucket/key": false} {
		err := CheckURI("spec.input.uri", uri)
		if good != (err == nil) || !good && !isCode(err, protocol.CodeSpecInvalid) {
			t.Errorf("%q: %v", uri, err)
		}
	}
}

// A store that cannot be opened is a fault of this worker's task, which another worker may try, unless the store is
// unavailable or the work has ended.
func TestOpenFault(t *testing.T) {
	cause := errors.New("outside of --file-root")
	var fault *protocol.Fault
	err := OpenFault("file:///a", cause)
	if !errors.As(err, &fault) || fault.Code != protocol.CodeStoreDenied || fault.Class != protocol.ClassTask ||
		*fault != *fault.WithoutOffset() || fault.Object != "file:///a" || !errors.Is(err, cause) {
		t.Errorf("%+v", err)
	}
	if err := OpenFault("s3://b/k", objstore.ErrUnavailable); !isCode(err, protocol.CodeStore) {
		t.Errorf("a store that is unavailable: %v", err)
	}
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if err := OpenFault("s3://b/k", ended); err != ended {
			t.Errorf("%v became %v", ended, err)
		}
	}
}

// What cannot be named, and what cannot be opened, are faults of the URI; what can is opened by its store.
func TestOpenURI(t *testing.T) {
	refuse := errors.New("refused")
	opened := ""
	open := func(_ context.Context, uri string) (objstore.Store, error) {
		opened = uri
		return nil, refuse
	}
	if _, _, err := OpenURI(t.Context(), "nothing", open); !isCode(err, protocol.CodeSpecInvalid) || opened != "" {
		t.Errorf("%v, opened %q", err, opened)
	}
	if _, _, err := OpenURI(t.Context(), "s3://corpus/k", open); !isCode(err, protocol.CodeStoreDenied) ||
		opened != "s3://corpus" {
		t.Errorf("%v, opened %q", err, opened)
	}
	refuse = nil
	if _, name, err := OpenURI(t.Context(), "s3://corpus/a/*.csv", open); err != nil || name != "a/*.csv" {
		t.Errorf("%q, %v", name, err)
	}
}
