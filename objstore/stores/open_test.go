package stores_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
	"github.com/gram-compute/gram/objstore/stores"
)

func open(t *testing.T, uri string, cfg stores.Config) objstore.Store {
	t.Helper()
	s, err := stores.Open(t.Context(), uri, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s objstore.Store, key string) {
	t.Helper()
	if _, err := s.Put(t.Context(), key, []byte("x")); err != nil {
		t.Fatal(err)
	}
}

func TestMemoryIsSharedByName(t *testing.T) {
	put(t, open(t, "mem://shared", stores.Config{}), "k")
	if _, err := open(t, "mem://shared/", stores.Config{}).Stat(t.Context(), "k"); err != nil {
		t.Errorf("the same name: %v", err)
	}
	if _, err := open(t, "mem://other", stores.Config{}).Stat(t.Context(), "k"); !errors.Is(err, objstore.ErrNotFound) {
		t.Errorf("another name: %v", err)
	}
	if _, err := stores.Open(t.Context(), "mem://shared/p", stores.Config{}); !errors.Is(err, objstore.ErrInvalidURI) {
		t.Errorf("with a prefix: %v", err)
	}
}

func TestFileRoots(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	cfg := stores.Config{FileRoots: []string{filepath.Join(t.TempDir(), "none"), root}}
	for _, path := range []string{root, root + "/", root + "/a", root + "/a/b/"} {
		s := open(t, "file://"+path, cfg)
		put(t, s, "k")
		if _, err := os.Stat(filepath.Join(path, "k")); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{outside, filepath.Dir(root), root + "x", "/"} {
		if _, err := stores.Open(t.Context(), "file://"+path, cfg); !errors.Is(err, objstore.ErrInvalidURI) ||
			!strings.Contains(err.Error(), root) {
			t.Errorf("%s: %v, want ErrInvalidURI naming the roots", path, err)
		}
	}
	for _, readOnly := range []bool{false, true} {
		cfg.ReadOnly = readOnly
		for _, path := range []string{root + "/link", root + "/link/deeper"} {
			if s, err := stores.Open(t.Context(), "file://"+path, cfg); err == nil {
				t.Errorf("%s leads out of the root, and was opened as %s", path, s)
			}
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("outside the root: %v, %v", entries, err)
	}
	if _, err := stores.Open(t.Context(), "file://"+root, stores.Config{}); !errors.Is(err, objstore.ErrInvalidURI) {
		t.Errorf("without roots: %v", err)
	}
	if got := open(t, "file:///", stores.Config{FileRoots: []string{"/"}, ReadOnly: true}).String(); got != "file:///" {
		t.Errorf("the root of all calls itself %s", got)
	}
}

func TestReadOnly(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "f.tsv"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg := stores.Config{FileRoots: []string{root}, ReadOnly: true}
	s := open(t, "file://"+root, cfg)
	if _, err := s.Stat(t.Context(), "f.tsv"); err != nil {
		t.Error(err)
	}
	if _, err := s.Put(t.Context(), "g", nil); !errors.Is(err, objstore.ErrDenied) {
		t.Errorf("put: %v", err)
	}
	if _, err := stores.Open(t.Context(), "file://"+root+"/missing", cfg); !errors.Is(err, objstore.ErrNotFound) {
		t.Errorf("a missing folder: %v", err)
	}
}

func TestS3(t *testing.T) {
	server := s3server.Start(t, s3server.Options{TLS: true})
	server.MakeBucket(t, "bucket")
	explicit := server.Config("bucket")
	byConfig := open(t, "s3://bucket/a/b/", stores.Config{Endpoint: explicit.Endpoint, AccessKey: explicit.AccessKey,
		SecretKey: explicit.SecretKey, RootCAs: explicit.RootCAs})
	put(t, byConfig, "c/d")
	for _, kv := range server.Env() {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	whole := open(t, "s3://bucket", stores.Config{})
	put(t, whole, "a/bb") // not below the prefix a/b/
	var keys []string
	for info, err := range whole.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, info.Key)
	}
	if got := fmt.Sprint(keys); got != "[a/b/c/d a/bb]" {
		t.Errorf("the bucket holds %s", got)
	}
	for info, err := range byConfig.List(t.Context(), "") {
		if err != nil || info.Key != "c/d" {
			t.Errorf("below the prefix: %+v, %v", info, err)
		}
	}
	if byConfig.String() != "s3://bucket/a/b" || whole.String() != "s3://bucket" {
		t.Errorf("they call themselves %s and %s", byConfig, whole)
	}
	if _, err := stores.Open(t.Context(), "s3://bucket", stores.Config{AccessKey: "only half"}); !errors.Is(err,
		objstore.ErrInvalidURI) {
		t.Errorf("half the credentials: %v", err)
	}
}
