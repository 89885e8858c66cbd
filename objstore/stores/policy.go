package stores

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gram-compute/gram/objstore"
)

// Declared is a store that an operator has declared: where it is, as whom to open it, and what may be touched.
// The host of an s3 URI is its name.
type Declared struct {
	Config        // FileRoots and ReadOnly do not count
	Bucket string // "" means the store's name
	// Read and Write are prefixes of keys, "" or ending in a slash. What may be written may be read. Nothing
	// in Read means the whole bucket; nothing in Write means nothing.
	Read, Write []string
}

// Policy is all that a process may open. Without Stores that is any bucket, with the environment's settings.
type Policy struct {
	Stores    map[string]Declared // by name
	FileRoots []string            // absolute folders that may be read and written
}

// Check says whether a URI of an object, prefix or pattern may be opened, without opening it. Errors wrap
// ErrInvalidURI where it names no store, else ErrDenied.
func (p Policy) Check(uri string, write bool) error {
	u, err := objstore.ParseURI(uri)
	if err != nil {
		return err
	}
	if u.Scheme == "file" {
		return p.checkFile(u)
	}
	if p.Stores == nil {
		return nil
	}
	declared, err := p.declared(u)
	if err != nil {
		return err
	}
	key, _, _ := strings.Cut(u.Path, "*")
	if write && key != "" && !strings.HasSuffix(key, "/") {
		key += "/" // what is written is a folder, however it is named
	}
	return declared.rights(u.Host, write).check(key, write)
}

func (p Policy) checkFile(u objstore.URI) error {
	for _, root := range p.FileRoots {
		if within(root, u.Path) {
			return nil
		}
	}
	if len(p.FileRoots) == 0 {
		return fmt.Errorf("%w: %s: no files may be opened here; use s3://, or allow its folder with --file-root",
			objstore.ErrDenied, u)
	}
	return fmt.Errorf("%w: %s: files may be opened only below %s", objstore.ErrDenied, u,
		strings.Join(p.FileRoots, ", "))
}

func (p Policy) declared(u objstore.URI) (Declared, error) {
	declared, ok := p.Stores[u.Host]
	if u.Scheme != "s3" || !ok {
		return Declared{}, fmt.Errorf("%w: %s://%s is not declared; declared are: %s", objstore.ErrInvalidURI, u.Scheme,
			u.Host,
			strings.Join(slices.Sorted(maps.Keys(p.Stores)), ", "))
	}
	return declared, nil
}

// Open opens a store, for writing too or for reading only. It refuses, with ErrDenied, keys that the declaration
// leaves out.
func (p Policy) Open(ctx context.Context, uri string, write bool) (objstore.Store, error) {
	u, err := objstore.ParseURI(uri)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "file" || p.Stores == nil {
		return Open(ctx, uri, Config{FileRoots: p.FileRoots, ReadOnly: !write})
	}
	declared, err := p.declared(u)
	if err != nil {
		return nil, err
	}
	bucket := objstore.URI{Scheme: "s3", Host: declared.Bucket, Path: strings.TrimSuffix(u.Path, "/")}
	if bucket.Host == "" {
		bucket.Host = u.Host
	}
	store, err := openS3(bucket, declared.Config)
	if err != nil {
		return nil, err
	}
	base := ""
	if bucket.Path != "" {
		base = bucket.Path + "/"
	}
	return &confined{store: store, base: base, rights: declared.rights(u.Host, write)}, nil
}

// rights are the prefixes that may be touched.
type rights struct {
	name        string
	read, write []string
}

func (d Declared) rights(name string, write bool) rights {
	r := rights{name: name, read: slices.Concat(d.Read, d.Write)}
	if len(d.Read) == 0 {
		r.read = []string{""}
	}
	if write {
		r.write = d.Write
	}
	return r
}

// check refuses a key, or the keys below a prefix.
func (r rights) check(key string, write bool) error {
	allowed, verb := r.read, "read"
	if write {
		allowed, verb = r.write, "write"
	}
	for _, prefix := range allowed {
		if strings.HasPrefix(key, prefix) {
			return nil
		}
	}
	where := "nothing"
	if len(allowed) > 0 {
		where = "only what is below " + strings.Join(allowed, ", ")
	}
	return fmt.Errorf("%w: of s3://%s this process may %s %s, and not %q", objstore.ErrDenied, r.name, verb, where, key)
}
