// Package s3 is an object store in a bucket of an S3-compatible server, on minio-go.
//
// Credentials come from the standard places, in this order: the environment
// (AWS_ACCESS_KEY_ID, ...), the shared credentials and config files (AWS_PROFILE, SSO and
// credential_process included), a web identity token, the container's role, the
// machine's role. Without any the store refuses to work: it never asks anonymously.
//
// Objects of up to Config.SinglePut bytes go out as one PUT whose signature covers the
// SHA-256 of the bytes; larger ones as a multipart upload, each part likewise. So
// servers check what arrives without S3's newer checksums: trailing ones not
// every server takes over plain HTTP. An upload that a killed process leaves behind is invisible;
// AbortUploads gives it up.
//
// Every call is tried again on passing faults, with exponential backoff and full
// jitter, until Config.Attempts or the context ends it; a body that breaks off is
// taken up again where it broke, pinned to its ETag. Redirects are not followed.
package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/gram-compute/gram/objstore"
)

// Store is a bucket, or the part of it below a prefix.
type Store struct {
	client *minio.Client
	core   minio.Core
	idle   func() // closes idle connections
	renew  func() // has credentials loaded again
	cfg    Config // complete
	prefix string // "" or ending in a slash
}

var _ objstore.Store = (*Store)(nil)

// Open prepares access to a bucket; it does not talk to the server. What cfg
// leaves empty is taken from the environment. Errors wrap ErrInvalidURI where
// the configuration makes no sense.
func Open(cfg Config) (*Store, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("open s3://%s: %w", cfg.Bucket, err)
	}
	transport := newTransport(cfg, true)
	// The services that hand out credentials are at just the addresses that stores are not.
	services := newTransport(cfg, false)
	lookup := minio.BucketLookupPath
	if cfg.endpoint.amazon {
		lookup = minio.BucketLookupDNS
	}
	creds := newCredentials(cfg, &http.Client{Transport: services, Timeout: credentialTimeout,
		CheckRedirect: noRedirect})
	slowest := floor{rate: cfg.FloorRate, window: cfg.FloorWindow}
	client, err := minio.New(cfg.endpoint.host, &minio.Options{
		Creds:        creds,
		Secure:       cfg.endpoint.secure,
		Transport:    &hedging{next: &flooring{dated{transport}, slowest}, after: cfg.HedgeAfter},
		Region:       cfg.Region,
		BucketLookup: lookup,
		MaxRetries:   1, // retry.go does it
	})
	if err != nil {
		return nil, fmt.Errorf("open s3://%s: %w: %w", cfg.Bucket, objstore.ErrInvalidURI, err)
	}
	s := &Store{client: client, core: minio.Core{Client: client}, cfg: cfg, renew: creds.Expire, idle: func() {
		transport.CloseIdleConnections()
		services.CloseIdleConnections()
	}}
	if cfg.Prefix != "" {
		s.prefix = cfg.Prefix + "/"
	}
	return s, nil
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Close closes idle connections; the store stays usable.
func (s *Store) Close() error {
	s.idle()
	return nil
}

// String gives the store's URI.
func (s *Store) String() string {
	return strings.TrimSuffix("s3://"+s.cfg.Bucket+"/"+s.prefix, "/")
}

// GoString gives the URI too: %#v must not print the credentials below.
func (s *Store) GoString() string { return s.String() }

// Stat describes key.
func (s *Store) Stat(ctx context.Context, key string) (objstore.Info, error) {
	var info objstore.Info
	err := s.retry(ctx, "stat", key, func() (err error) {
		info, err = s.head(ctx, key)
		return err
	})
	if err != nil {
		return objstore.Info{}, err
	}
	return info, nil
}

// head sends one HEAD, whose reply has no body to say whether the key is missing,
// the bucket, or the user: GET tells.
func (s *Store) head(ctx context.Context, key string) (objstore.Info, error) {
	found, err := s.client.StatObject(ctx, s.cfg.Bucket, s.prefix+key, minio.StatObjectOptions{})
	if err == nil {
		return objstore.Info{Key: key, Size: found.Size, ETag: found.ETag, VersionID: found.VersionID,
			Digest: s.digest(ctx, key, found)}, nil
	}
	if minio.ToErrorResponse(err).StatusCode != http.StatusNotFound {
		return objstore.Info{}, err
	}
	r, info, err := s.open(ctx, key, objstore.GetOptions{})
	if err != nil {
		return objstore.Info{}, err
	}
	return info, r.Close() // made meanwhile
}

// Delete removes key.
func (s *Store) Delete(ctx context.Context, key string) error {
	err := s.retry(ctx, "delete", key, func() error {
		return s.client.RemoveObject(ctx, s.cfg.Bucket, s.prefix+key, minio.RemoveObjectOptions{})
	})
	if errors.Is(err, objstore.ErrNotFound) {
		return nil
	}
	return err
}

func (s *Store) checkKey(key string) error {
	if err := objstore.ValidKey(key); err != nil {
		return err
	}
	if n := len(s.prefix) + len(key); n > objstore.MaxKeyBytes {
		return fmt.Errorf("%w: %d bytes with the store's prefix, more than %d", objstore.ErrInvalidKey, n,
			objstore.MaxKeyBytes)
	}
	return nil
}

func (s *Store) fail(op, key string, err error) error {
	return &objstore.Error{Op: op, Store: s.String(), Key: key, Err: err}
}
