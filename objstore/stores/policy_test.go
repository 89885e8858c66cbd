package stores_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
	"github.com/gram-compute/gram/objstore/stores"
)

func TestPolicyChecks(t *testing.T) {
	p := stores.Policy{FileRoots: []string{"/data"}, Stores: map[string]stores.Declared{
		"lake": {Read: []string{"corpora/", "shared/"}, Write: []string{"gram/"}},
		"open": {}, "jobs": {Write: []string{""}},
	}}
	for uri, want := range map[string][2]error{ // to read, to write
		"s3://lake/corpora/":                {nil, objstore.ErrDenied},
		"s3://lake/corpora/x.tsv":           {nil, objstore.ErrDenied},
		"s3://lake/corpora/2026-*.tsv":      {nil, objstore.ErrDenied},
		"s3://lake/gram/":                   {nil, nil},
		"s3://lake/gram":                    {objstore.ErrDenied, nil}, // to read it is one object; to write, a folder
		"s3://lake/gram-secret/":            {objstore.ErrDenied, objstore.ErrDenied},
		"s3://lake/corpora":                 {objstore.ErrDenied, objstore.ErrDenied},
		"s3://lake/corpora-secret/x":        {objstore.ErrDenied, objstore.ErrDenied},
		"s3://lake/cor*":                    {objstore.ErrDenied, objstore.ErrDenied},
		"s3://lake/":                        {objstore.ErrDenied, objstore.ErrDenied},
		"s3://lake":                         {objstore.ErrDenied, objstore.ErrDenied},
		"s3://lake/CORPORA/x":               {objstore.ErrDenied, objstore.ErrDenied},
		"s3://lake/corpora/../gram/x":       {objstore.ErrInvalidURI, objstore.ErrInvalidURI},
		"s3://open/anything":                {nil, objstore.ErrDenied},
		"s3://jobs/anything":                {nil, nil},
		"s3://other/x":                      {objstore.ErrInvalidURI, objstore.ErrInvalidURI},
		"mem://lake/corpora/x":              {objstore.ErrInvalidURI, objstore.ErrInvalidURI},
		"http://169.254.169.254/x":          {objstore.ErrInvalidURI, objstore.ErrInvalidURI},
		"s3://lake.evil.example/corpora/x":  {objstore.ErrInvalidURI, objstore.ErrInvalidURI},
		"s3://key:secret@lake/corpora/x":    {objstore.ErrInvalidURI, objstore.ErrInvalidURI},
		"file:///data/x":                    {nil, nil},
		"file:///data":                      {nil, nil},
		"file:///database/x":                {objstore.ErrDenied, objstore.ErrDenied},
		"file:///etc/passwd":                {objstore.ErrDenied, objstore.ErrDenied},
		"file:///data/../etc/passwd":        {objstore.ErrInvalidURI, objstore.ErrInvalidURI},
		"file://host/data/x":                {objstore.ErrInvalidURI, objstore.ErrInvalidURI},
		"s3://lake/corpora/%2e%2e/gram/x":   {nil, objstore.ErrDenied}, // taken literally, as every key
		"s3://lake/corpora/x?versionId=abc": {nil, objstore.ErrDenied},
	} {
		for i, write := range []bool{false, true} {
			if err := p.Check(uri, write); !errors.Is(err, want[i]) || want[i] == nil && err != nil {
				t.Errorf("%s, write %v: %v, want %v", uri, write, err, want[i])
			}
		}
	}
	if err := (stores.Policy{}).Check("s3://any/x", true); err != nil {
		t.Errorf("without declarations: %v", err)
	}
	if err := (stores.Policy{}).Check("file:///data/x", false); !errors.Is(err, objstore.ErrDenied) {
		t.Errorf("a file without roots: %v", err)
	}
}

// The same on a real server, key by key: what a worker opens is held to the declaration too.
func TestPolicyOpens(t *testing.T) {
	server := s3server.Start(t, s3server.Options{TLS: true})
	whole := server.Open(t, "acme-lake")
	for _, key := range []string{"corpora/a", "corpora-secret/a", "gram/a", "other"} {
		put(t, whole, key)
	}
	explicit := server.Config("acme-lake")
	settings := stores.Config{Endpoint: explicit.Endpoint, AccessKey: explicit.AccessKey, SecretKey: explicit.SecretKey,
		RootCAs: explicit.RootCAs}
	p := stores.Policy{Stores: map[string]stores.Declared{
		"lake": {Config: settings, Bucket: "acme-lake", Read: []string{"corpora/"}, Write: []string{"gram/"}},
	}}
	s, err := p.Open(t.Context(), "s3://lake", true)
	if err != nil {
		t.Fatal(err)
	}
	for key, allowed := range map[string]bool{"corpora/a": true, "gram/a": true, "corpora-secret/a": false,
		"other": false} {
		_, statErr := s.Stat(t.Context(), key)
		r, _, getErr := s.Get(t.Context(), key, objstore.GetOptions{})
		if getErr == nil {
			r.Close()
		}
		for _, err := range []error{statErr, getErr} {
			if allowed && err != nil || !allowed && !errors.Is(err, objstore.ErrDenied) {
				t.Errorf("read %s: %v", key, err)
			}
		}
	}
	for key, allowed := range map[string]bool{"gram/b": true, "gram": false, "corpora/a": false, "other": false} {
		_, putErr := s.Put(t.Context(), key, []byte("x"))
		for _, err := range []error{putErr, s.Delete(t.Context(), key)} {
			if allowed && err != nil || !allowed && !errors.Is(err, objstore.ErrDenied) {
				t.Errorf("write %s: %v", key, err)
			}
		}
	}
	for prefix, allowed := range map[string]bool{"corpora/": true, "corpora/a": true, "gram/": true, "": false,
		"corpora": false, "other": false} {
		for _, err := range s.List(t.Context(), prefix) {
			if allowed && err != nil || !allowed && !errors.Is(err, objstore.ErrDenied) {
				t.Errorf("list %q: %v", prefix, err)
			}
		}
	}
	below, err := p.Open(t.Context(), "s3://lake/gram", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := below.Stat(t.Context(), "a"); err != nil || below.String() != "s3://lake/gram" {
		t.Errorf("%s: %v", below, err)
	}
	if _, err := below.Put(t.Context(), "c", nil); !errors.Is(err, objstore.ErrDenied) {
		t.Errorf("put into an input: %v", err)
	}
	if _, err := p.Open(t.Context(), "s3://acme-lake", false); !errors.Is(err, objstore.ErrInvalidURI) {
		t.Errorf("the bucket by its own name: %v", err)
	}
}

// What lies below a root and is no plain file of it is not opened: links out, devices, pipes.
func TestHostileFiles(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := errors.Join(os.WriteFile(secret, []byte("canary"), 0o600),
		os.Symlink(secret, filepath.Join(root, "link")),
		os.Symlink(outside, filepath.Join(root, "folder")),
		os.Symlink("../"+filepath.Base(outside)+"/secret", filepath.Join(root, "relative")),
		syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600), os.Symlink("/dev/zero", filepath.Join(root, "device")),
		os.Link(secret, filepath.Join(root, "hard"))); err != nil {
		t.Fatal(err)
	}
	p := stores.Policy{FileRoots: []string{root}}
	s, err := p.Open(t.Context(), "file://"+root, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"link", "relative", "folder/secret", "pipe", "device", "../" + filepath.Base(outside) +
		"/secret", ".."} {
		if r, _, err := s.Get(t.Context(), key, objstore.GetOptions{}); err == nil {
			r.Close()
			t.Errorf("%s was opened", key)
		}
	}
	for _, uri := range []string{"file://" + root + "/folder", "file://" + root + "/link", "file://" + root + "/pipe",
		"file://" + outside} {
		if opened, err := p.Open(t.Context(), uri, true); err == nil {
			t.Errorf("%s was opened as %s", uri, opened)
		}
	}
	if data, _, err := objstore.ReadAll(t.Context(), s, "hard", objstore.GetOptions{}, 10); err != nil ||
		!strings.HasPrefix(string(data), "canary") {
		t.Errorf("a hard link is a file of the root, made by someone who could write it: %v", err)
	}
}
