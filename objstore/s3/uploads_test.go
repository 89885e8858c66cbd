package s3_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
)

// Uploads that broke off below a prefix are given up once they are old; what is finished, what lies elsewhere
// and what is new stays. MinIO is not asked: it lists uploads by their whole key alone, and expires them itself.
func TestAbortUploads(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	store := server.Open(t, "uploads")
	core := begin(t, server, "uploads", "jobs/a/1", "jobs/b/2", "elsewhere/3")
	if _, err := store.Put(t.Context(), "jobs/a/done", []byte("x")); err != nil {
		t.Fatal(err)
	}
	abort := func(before time.Time, want int) {
		t.Helper()
		if n, err := store.AbortUploads(t.Context(), "jobs/", before); err != nil || n != want {
			t.Errorf("%d uploads given up (%v), want %d", n, err, want)
		}
	}
	abort(time.Now().Add(-time.Hour), 0)
	abort(time.Now().Add(time.Hour), 2)
	abort(time.Now().Add(time.Hour), 0)
	left := 0
	for u := range core.ListIncompleteUploads(t.Context(), "uploads", "", true) {
		if left++; u.Err != nil || u.Key != "elsewhere/3" {
			t.Errorf("left: %+v", u)
		}
	}
	if left != 1 {
		t.Errorf("%d uploads left", left)
	}
	if _, err := store.Stat(t.Context(), "jobs/a/done"); err != nil {
		t.Error(err)
	}
}

// begin begins an upload of each key, and stores a part of it.
func begin(t *testing.T, server *s3server.Server, bucket string, keys ...string) minio.Core {
	t.Helper()
	client, err := minio.New(strings.TrimPrefix(server.Endpoint(), "http://"), &minio.Options{
		Creds: credentials.NewStaticV4(s3server.AccessKey, s3server.SecretKey, ""), Region: "us-east-1",
	})
	if err != nil {
		t.Fatal(err)
	}
	core := minio.Core{Client: client}
	for _, key := range keys {
		id, err := core.NewMultipartUpload(t.Context(), bucket, key, minio.PutObjectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		part := bytes.Repeat([]byte("x"), 5<<20)
		if _, err := core.PutObjectPart(t.Context(), bucket, key, id, 1, bytes.NewReader(part), int64(len(part)),
			minio.PutObjectPartOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return core
}
