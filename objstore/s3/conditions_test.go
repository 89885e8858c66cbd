package s3_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
)

// A condition holds for an object too that would go out in parts without one: minio-go drops it there.
func TestConditionsOfLargeObjects(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	server.MakeBucket(t, "bucket")
	cfg := server.Config("bucket")
	cfg.SinglePut, cfg.PartSize = 1<<20, 5<<20
	s := openStore(t, cfg)
	first, second := bytes.Repeat([]byte("first"), 2<<20), bytes.Repeat([]byte("second"), 2<<20)
	made, err := s.PutIf(t.Context(), "k", first, objstore.PutOptions{New: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.PutIf(t.Context(), "k", second, objstore.PutOptions{New: true}); !errors.Is(err,
		objstore.ErrExists) {
		t.Errorf("made again: %v", err)
	}
	wantBytes(t, s, "k", first)
	if _, err := s.PutIf(t.Context(), "k", second, objstore.PutOptions{IfMatch: made.ETag}); err != nil {
		t.Errorf("replaced: %v", err)
	}
	if _, err := s.PutIf(t.Context(), "k", first, objstore.PutOptions{IfMatch: made.ETag}); !errors.Is(err,
		objstore.ErrChanged) {
		t.Errorf("replaced again: %v", err)
	}
	wantBytes(t, s, "k", second)
}
