package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/gram-compute/gram/objstore"
)

// Get opens key for reading.
func (s *Store) Get(ctx context.Context, key string, opt objstore.GetOptions) (io.ReadCloser, objstore.Info, error) {
	if opt.Offset < 0 || opt.Length < 0 || opt.Length > math.MaxInt64-opt.Offset {
		return nil, objstore.Info{}, s.fail("get", key,
			fmt.Errorf("%w: offset %d, length %d", objstore.ErrRange, opt.Offset, opt.Length))
	}
	b := &body{ctx: ctx, store: s, key: key}
	var info objstore.Info
	err := s.retry(ctx, "get", key, func() (err error) {
		b.ReadCloser, info, err = s.open(ctx, key, opt)
		return err
	})
	if err != nil {
		return nil, objstore.Info{}, err
	}
	b.etag = info.ETag
	if b.next, b.left, err = opt.Resolve(info.Size); err != nil {
		return nil, objstore.Info{}, s.fail("get", key, errors.Join(err, b.Close()))
	}
	return b, info, nil
}

// open sends one GET. The reader gives the bytes from opt.Offset on.
func (s *Store) open(ctx context.Context, key string, opt objstore.GetOptions) (io.ReadCloser, objstore.Info, error) {
	var get minio.GetObjectOptions
	ranged := opt.Offset > 0 || opt.Length > 0
	if ranged {
		get.Set("Range", rangeHeader(opt))
	}
	if opt.IfMatch != "" {
		get.Set("If-Match", strconv.Quote(opt.IfMatch))
	}
	r, found, header, err := s.core.GetObject(ctx, s.cfg.Bucket, s.prefix+key, get)
	if err != nil {
		return nil, objstore.Info{}, err
	}
	info := objstore.Info{Key: key, Size: found.Size, ETag: found.ETag, VersionID: found.VersionID}
	err = checkReply(&info, header, opt, ranged)
	if err != nil {
		return nil, objstore.Info{}, errors.Join(err, r.Close())
	}
	return r, info, nil
}

func rangeHeader(opt objstore.GetOptions) string {
	if opt.Length == 0 {
		return fmt.Sprintf("bytes=%d-", opt.Offset)
	}
	return fmt.Sprintf("bytes=%d-%d", opt.Offset, opt.Offset+opt.Length-1)
}

// checkReply verifies the reply against what was asked for, since not every server
// heeds every header, and sets info.Size to the whole object's.
func checkReply(info *objstore.Info, header http.Header, opt objstore.GetOptions, ranged bool) error {
	if info.ETag == "" {
		return fmt.Errorf("%w: it sent no ETag", errProtocol)
	}
	if opt.IfMatch != "" && info.ETag != opt.IfMatch {
		return fmt.Errorf("%w: ETag is %s, not %s", objstore.ErrChanged, info.ETag, opt.IfMatch)
	}
	content := header.Get("Content-Range")
	if content == "" {
		if start, length, err := opt.Resolve(info.Size); ranged && err == nil && (start != 0 || length != info.Size) {
			return fmt.Errorf("%w: asked for %s, it sent the whole object", errProtocol, rangeHeader(opt))
		}
		return nil
	}
	first, total, err := parseContentRange(content)
	if err != nil || first != opt.Offset {
		return fmt.Errorf("%w: asked for %s, it sent %q", errProtocol, rangeHeader(opt), content)
	}
	info.Size = total
	return nil
}

// parseContentRange reads "bytes first-last/total" (RFC 9110, section 14.4).
func parseContentRange(s string) (first, total int64, err error) {
	span, size, ok := strings.Cut(strings.TrimPrefix(s, "bytes "), "/")
	from, _, ok2 := strings.Cut(span, "-")
	if !ok || !ok2 {
		return 0, 0, errors.New("malformed Content-Range")
	}
	first, err = strconv.ParseInt(from, 10, 64)
	if err != nil {
		return 0, 0, err
	}
	total, err = strconv.ParseInt(size, 10, 64)
	return first, total, err
}

// body gives exactly the bytes promised, of one version of the object. Where
// the connection breaks off it asks for the rest.
type body struct {
	io.ReadCloser
	ctx        context.Context
	store      *Store
	key, etag  string
	next, left int64 // of the object
	failures   int   // since the last byte
	slow       bool  // the last failure was for the floor: a few bytes are no progress then
	got        int64 // bytes since
}

// slowProgress is how much must come after a connection that was too slow for the next one to count as well again.
const slowProgress = 64 << 10

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	for b.left > 0 {
		if err := b.ctx.Err(); err != nil {
			return 0, b.store.fail("get", b.key, err)
		}
		n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
		b.next, b.left = b.next+int64(n), b.left-int64(n)
		if n > 0 || err == nil {
			if b.got += int64(n); !b.slow || b.got >= slowProgress {
				b.failures, b.slow = 0, false
			}
			return n, nil // an error comes again with the next Read
		}
		if errors.Is(err, errSlow) {
			b.slow, b.got = true, 0
		}
		if err := b.resume(err); err != nil {
			return 0, err
		}
	}
	return 0, io.EOF
}

// resume reopens the object where the body broke off with cause.
func (b *body) resume(cause error) error {
	if cause == io.EOF {
		cause = io.ErrUnexpectedEOF
	}
	for {
		if b.failures++; b.failures >= b.store.cfg.Attempts {
			return b.store.fail("get", b.key,
				fmt.Errorf("%w: %d bytes are missing: %w", io.ErrUnexpectedEOF, b.left, cause))
		}
		if err := b.store.pause(b.ctx, b.failures); err != nil {
			return b.store.fail("get", b.key, fmt.Errorf("%w, waiting to read on after: %w", err, cause))
		}
		rest := objstore.GetOptions{Offset: b.next, Length: b.left, IfMatch: b.etag}
		r, _, err := b.store.open(b.ctx, b.key, rest)
		if err == nil {
			_ = b.ReadCloser.Close() // the connection is broken anyway
			b.ReadCloser = r
			return nil
		}
		if cause = mapErr(err); !errors.Is(cause, objstore.ErrUnavailable) {
			return b.store.fail("get", b.key, cause)
		}
	}
}
