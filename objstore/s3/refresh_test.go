package s3_test

import (
	"testing"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/s3"
)

// Credentials that were replaced where they come from are used after a Refresh: nothing else tells that they were.
func TestRefreshLoadsCredentialsAnew(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "first")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	store, err := s3.Open(s3.Config{Bucket: "bucket", Endpoint: "http://127.0.0.1:1", Region: "us-east-1", Local: true})
	if err != nil {
		t.Fatal(err)
	}
	wantKey := func(want string) {
		t.Helper()
		if got, err := s3.AccessKey(store); err != nil || got != want {
			t.Errorf("the access key is %q, %v; want %q", got, err, want)
		}
	}
	wantKey("first")
	t.Setenv("AWS_ACCESS_KEY_ID", "second")
	wantKey("first")
	objstore.Refresh(store)
	wantKey("second")
}
