// Package objstore holds named bytes: a flat map from key to an immutable
// object. Implementations live in the folders below it (s3, dir, mem, faulty)
// and pass one conformance suite, objstoretest.
//
// Keys are slash-separated, relative and clean (see ValidKey). A key is never
// the parent of another key: "a" and "a/b" must not both exist, because some
// stores cannot hold both. dir, mem and versitygw refuse the second; Amazon's S3
// takes it, and MinIO takes it and hides a child: callers that name keys must keep the rule.
package objstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"
)

// Sentinel errors. Implementations wrap them in *Error, so callers use errors.Is.
var (
	// ErrNotFound: no object has this key.
	ErrNotFound = errors.New("object not found")
	// ErrChanged: the object is there, but its ETag is not the one asked for.
	ErrChanged = errors.New("object changed")
	// ErrExists: an object has this key already.
	ErrExists = errors.New("object exists already")
	// ErrDenied: the credentials are missing, wrong, or lack the right.
	ErrDenied = errors.New("access denied")
	// ErrUnavailable: the store could not be reached or answered with a passing
	// fault; the same call may succeed later.
	ErrUnavailable = errors.New("store unavailable")
	// ErrInvalidKey: the key is empty, absolute, unclean, or the parent or child of another key.
	ErrInvalidKey = errors.New("invalid key")
	// ErrRange: the requested range does not lie inside the object.
	ErrRange = errors.New("range outside object")
	// ErrTooLarge: the object has more bytes than the caller reads.
	ErrTooLarge = errors.New("object too large")
	// ErrInvalidURI: the URI is malformed, of an unknown scheme, or outside what this process may open.
	ErrInvalidURI = errors.New("invalid store URI")
)

// Info describes one stored object.
type Info struct {
	Key       string
	Size      int64  // bytes of the whole object, also when a range of it is read
	ETag      string // opaque; equal ETags of one key mean equal bytes
	VersionID string // empty where the store keeps no versions
	Digest    Digest // of the whole object's bytes, where Stat can tell; Get and List may leave it out
}

// GetOptions narrows a read. The zero value reads the whole object.
type GetOptions struct {
	Offset  int64  // first byte
	Length  int64  // bytes to read; 0 means to the end
	IfMatch string // when set, the read fails with ErrChanged unless the ETag is this
}

// PutOptions makes a write depend on what is stored. The zero value does not.
type PutOptions struct {
	// New makes the write fail with ErrExists where an object has the key (S3's If-None-Match: *). A write whose
	// reply was lost may find its own object: PutNew tells that apart.
	New bool
	// IfMatch, when set, makes the write fail with ErrChanged unless the stored object's ETag is this one, and with
	// ErrNotFound or ErrChanged where there is no object. Repeated after a lost reply it fails with ErrChanged.
	IfMatch string
}

// Store is a flat map of immutable objects. Every method is safe for concurrent use.
type Store interface {
	// Put stores data under key, all or nothing: a reader sees the old object or the
	// new one, never a part. When it returns nil the bytes are as durable as the store promises.
	Put(ctx context.Context, key string, data []byte) (Info, error)
	// PutIf is Put under a condition, which holds at the moment of the write: of several writers at once one
	// succeeds. (A directory decides about IfMatch within one process only.)
	PutIf(ctx context.Context, key string, data []byte, opt PutOptions) (Info, error)
	// Get opens key for reading. The reader fails with io.ErrUnexpectedEOF rather
	// than ending early. The caller closes it.
	Get(ctx context.Context, key string, opt GetOptions) (io.ReadCloser, Info, error)
	// Stat describes key.
	Stat(ctx context.Context, key string) (Info, error)
	// List yields every object whose key begins with prefix, in ascending byte order of key.
	// An error ends the sequence; VersionID may be missing.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]
	// Delete removes key; removing what is not there is no error.
	Delete(ctx context.Context, key string) error
	// String names the store for people, without secrets, e.g. "s3://bucket/prefix".
	String() string
}

// Dater is a store on a machine of its own, whose clock can be compared with this one's.
type Dater interface {
	// Date asks the store for the time, to the second. It changes nothing.
	Date(ctx context.Context) (time.Time, error)
}

// UploadAborter is a store in which an upload that broke off leaves something behind.
type UploadAborter interface {
	// AbortUploads gives up what was begun before a time, of objects whose keys begin with prefix, and never
	// finished. It returns how many, also with an error. A caller that goes on with one fails. A store that cannot
	// tell of which object an upload is gives up all.
	AbortUploads(ctx context.Context, prefix string, before time.Time) (int, error)
}

// Error says which operation failed on which object, and why.
type Error struct {
	Op    string // "put", "get", "stat", "list", "delete"
	Store string // Store.String()
	Key   string
	Err   error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s %s/%s: %v", e.Op, e.Store, e.Key, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
