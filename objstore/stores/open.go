// Package stores opens an object store by its URI.
package stores

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/dir"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/objstore/s3"
)

// Config says what this process may open and how. The zero value opens s3 with
// the environment's settings, and mem; it opens no files.
type Config struct {
	// FileRoots are absolute folders; file URIs must lie in one of them, also once
	// symbolic links are followed.
	FileRoots []string
	// ReadOnly opens folders for reading only.
	ReadOnly bool
	// Ephemeral opens folders that are removed before this process ends; see dir.Options.
	Ephemeral bool
	// Deferred opens folders whose objects wait for a Sync; see dir.Options.
	Deferred bool

	// S3 settings; empty ones come from the environment, as s3.Config says.
	Endpoint     string // URL; http:// for plain HTTP
	Region       string
	AccessKey    string
	SecretKey    s3.Secret
	SessionToken s3.Secret
	RootCAs      *x509.CertPool
	Local        bool // the endpoint's name may lead to this machine
}

// Open opens "s3://bucket[/prefix]", "file:///absolute/folder" or "mem://name".
// It does not talk to an S3 server yet. A memory store lives as long as the process; all who
// open its name share it. Errors wrap ErrInvalidURI, for folders also ErrNotFound or ErrDenied.
func Open(ctx context.Context, uri string, cfg Config) (objstore.Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	u, err := objstore.ParseURI(uri)
	if err != nil {
		return nil, err
	}
	u.Path = cmp.Or(strings.TrimSuffix(u.Path, "/"), rootOf(u))
	switch u.Scheme {
	case "s3":
		return openS3(u, cfg)
	case "file":
		return openDir(u, cfg)
	}
	if u.Path != "" {
		return nil, fmt.Errorf("%w: %s: a memory store has no prefix", objstore.ErrInvalidURI, u)
	}
	return named(u.Host), nil
}

// rootOf is what the path "/" stands for when its slash is gone.
func rootOf(u objstore.URI) string {
	if u.Scheme == "file" {
		return "/"
	}
	return ""
}

// openS3 avoids returning a nil *s3.Store in a non-nil interface.
func openS3(u objstore.URI, cfg Config) (objstore.Store, error) {
	s, err := s3.Open(s3.Config{Bucket: u.Host, Prefix: u.Path, Endpoint: cfg.Endpoint, Region: cfg.Region,
		AccessKey: cfg.AccessKey, SecretKey: cfg.SecretKey, SessionToken: cfg.SessionToken, RootCAs: cfg.RootCAs,
		Local: cfg.Local})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func openDir(u objstore.URI, cfg Config) (objstore.Store, error) {
	path := filepath.FromSlash(u.Path)
	for _, root := range cfg.FileRoots {
		if !within(root, path) {
			continue
		}
		s, err := dir.Open(path, dir.Options{ReadOnly: cfg.ReadOnly, Within: root, Ephemeral: cfg.Ephemeral,
			Deferred: cfg.Deferred})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	if len(cfg.FileRoots) == 0 {
		return nil, fmt.Errorf("%w: %s: this process may open no files; use s3://, or allow its folder with --file-root",
			objstore.ErrInvalidURI, u)
	}
	return nil, fmt.Errorf("%w: %s: this process may open files only below %s", objstore.ErrInvalidURI, u,
		strings.Join(cfg.FileRoots, ", "))
}

// within compares names only; dir.Options.Within protects from symbolic links.
func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

var memory struct {
	sync.Mutex
	stores map[string]*mem.Store
}

func named(name string) *mem.Store {
	memory.Lock()
	defer memory.Unlock()
	s, ok := memory.stores[name]
	if !ok {
		if memory.stores == nil {
			memory.stores = map[string]*mem.Store{}
		}
		s = mem.New(name)
		memory.stores[name] = s
	}
	return s
}
