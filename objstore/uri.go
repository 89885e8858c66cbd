package objstore

import (
	"fmt"
	"path"
	"strings"
)

// URI is a parsed store or object URI. Everything behind the scheme is taken
// literally: no percent-decoding, no query, no fragment, so "%", "+", "?" and
// "#" stand for themselves as they do in keys.
type URI struct {
	Scheme string // "s3", "file" or "mem"
	Host   string // bucket or name; empty for file
	Path   string // key or prefix, without leading slash; for file the absolute path
}

func (u URI) String() string {
	if u.Scheme == "file" {
		return "file://" + u.Path
	}
	if u.Path == "" {
		return u.Scheme + "://" + u.Host
	}
	return u.Scheme + "://" + u.Host + "/" + u.Path
}

// ParseURI reads "s3://bucket[/key]", "mem://name[/key]" and "file:///abs/path".
// Errors wrap ErrInvalidURI and never repeat what may be a password.
func ParseURI(uri string) (URI, error) {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return URI{}, fmt.Errorf("%w: no scheme; write s3://bucket/key or file:///absolute/path", ErrInvalidURI)
	}
	switch scheme {
	case "file":
		return parseFile(rest)
	case "s3", "mem":
		return parseHosted(scheme, rest)
	}
	return URI{}, fmt.Errorf("%w: unknown scheme %q; s3, file and mem are known", ErrInvalidURI, scheme)
}

func parseFile(p string) (URI, error) {
	if !strings.HasPrefix(p, "/") {
		return URI{}, fmt.Errorf("%w: file URIs need an absolute path: file:///absolute/path", ErrInvalidURI)
	}
	if clean := path.Clean(p); p != clean && p != clean+"/" || p == "//" {
		return URI{}, fmt.Errorf("%w: the path %q is not clean; write %q", ErrInvalidURI, p, clean)
	}
	if err := validText(p); err != nil {
		return URI{}, fmt.Errorf("%w: %w", ErrInvalidURI, err)
	}
	return URI{Scheme: "file", Path: p}, nil
}

func parseHosted(scheme, rest string) (URI, error) {
	host, key, _ := strings.Cut(rest, "/")
	if strings.Contains(host, "@") {
		return URI{}, fmt.Errorf("%w: credentials do not belong into a URI; give them in the environment",
			ErrInvalidURI)
	}
	if !validHost(host) || scheme == "s3" && len(host) < 3 {
		return URI{}, fmt.Errorf("%w: %q is not a bucket name (3 to 63 of a-z, 0-9, '.', '-')", ErrInvalidURI, host)
	}
	if err := ValidPrefix(key); err != nil {
		return URI{}, fmt.Errorf("%w: %w", ErrInvalidURI, err)
	}
	return URI{Scheme: scheme, Host: host, Path: key}, nil
}

func validHost(host string) bool {
	if host == "" || len(host) > 63 || strings.Contains(host, "..") {
		return false
	}
	for i, c := range []byte(host) {
		inner := i > 0 && i < len(host)-1
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case inner && (c == '.' || c == '-'):
		default:
			return false
		}
	}
	return true
}

// SplitObjectURI parts the URI of an object, prefix or pattern into the store
// to open and the key within it:
//
//	s3://b/p/x.tsv  ->  s3://b         p/x.tsv
//	s3://b/p/       ->  s3://b         p/
//	mem://m/x       ->  mem://m        x
//	file:///d/f.tsv ->  file:///d      f.tsv
//	file:///d/in/   ->  file:///d/in   (empty: everything below)
//
// A file's store is its own folder, so that no more than that folder is opened.
// Errors wrap ErrInvalidURI.
func SplitObjectURI(uri string) (store, key string, err error) {
	u, err := ParseURI(uri)
	if err != nil {
		return "", "", err
	}
	if u.Scheme != "file" {
		return URI{Scheme: u.Scheme, Host: u.Host}.String(), u.Path, nil
	}
	slash := strings.LastIndexByte(u.Path, '/')
	return "file://" + u.Path[:max(slash, 1)], u.Path[slash+1:], nil
}
