package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"github.com/minio/minio-go/v7"

	"github.com/gram-compute/gram/objstore"
)

// Put stores data under key: as one PUT up to Config.SinglePut bytes, else as a multipart upload.
func (s *Store) Put(ctx context.Context, key string, data []byte) (objstore.Info, error) {
	return s.PutIf(ctx, key, data, objstore.PutOptions{})
}

// mostInOnePut is what S3 takes as one PUT.
const mostInOnePut = 5 << 30

// PutIf stores data under key, if the server finds that opt allows it. With a condition it is one PUT, however large:
// minio-go drops conditions when it completes a multipart upload, and some servers would overwrite.
func (s *Store) PutIf(ctx context.Context, key string, data []byte, opt objstore.PutOptions) (objstore.Info, error) {
	send := s.putMultipart
	conditional := opt != objstore.PutOptions{}
	if int64(len(data)) <= max(s.cfg.SinglePut, int64(s.cfg.PartSize)) || conditional {
		send = s.putSingle
	}
	if conditional && len(data) > mostInOnePut {
		return objstore.Info{}, s.fail("put", key,
			fmt.Errorf("%d bytes under a condition, more than the %d of one PUT", len(data), int64(mostInOnePut)))
	}
	var sent minio.UploadInfo
	err := s.retry(ctx, "put", key, func() (err error) {
		sent, err = send(ctx, s.prefix+key, data, opt)
		if err = mapErr(err); opt.New && errors.Is(err, objstore.ErrChanged) {
			err = fmt.Errorf("%w: %v", objstore.ErrExists, err)
		}
		if conditional && errors.Is(err, objstore.ErrUnavailable) {
			err = s.refusal(ctx, key, opt, err)
		}
		return err
	})
	if err != nil {
		return objstore.Info{}, err
	}
	return objstore.Info{Key: key, Size: int64(len(data)), ETag: sent.ETag, VersionID: sent.VersionID}, nil
}

// refusal finds out whether a write under a condition failed because of its condition: a server that refuses it may
// hang up before it has read the body, and its answer is lost then.
func (s *Store) refusal(ctx context.Context, key string, opt objstore.PutOptions, failed error) error {
	found, err := s.Stat(ctx, key)
	if err != nil && !errors.Is(err, objstore.ErrNotFound) {
		return failed
	}
	if refused := opt.Allow(err == nil, found.ETag); refused != nil {
		return refused
	}
	return failed
}

const contentType = "application/octet-stream"

// storeRate, in bytes per second, is how fast a server that is well stores what it was sent, before it answers.
const storeRate = 16 << 20

// movingReader tells how a body gets on.
type movingReader struct {
	data *bytes.Reader
	p    *progress
}

// Read implements io.Reader.
func (r *movingReader) Read(p []byte) (int, error) {
	r.p.move()
	return r.data.Read(p)
}

// Seek implements io.Seeker.
func (r *movingReader) Seek(offset int64, whence int) (int64, error) {
	return r.data.Seek(offset, whence)
}

// putSingle signs the SHA-256 of the bytes with the request, so that every
// server must check them.
func (s *Store) putSingle(ctx context.Context, key string, data []byte, opt objstore.PutOptions) (minio.UploadInfo,
	error) {
	sum := sha256.Sum256(data)
	options := minio.PutObjectOptions{ContentType: contentType, DisableMultipart: true, DisableContentSha256: true}
	if opt.New {
		options.SetMatchETagExcept("*")
	}
	if opt.IfMatch != "" {
		options.SetMatchETag(opt.IfMatch)
	}
	after := s.answerAfter(len(data))
	if opt.IfMatch != "" { // a second one would not find the version that the first one has replaced
		after = math.MaxInt64
	}
	sent, end, err := hedged(ctx, after, func(minio.UploadInfo) {},
		func(ctx context.Context, p *progress) (minio.UploadInfo, error) {
			body := &movingReader{bytes.NewReader(data), p}
			return s.core.PutObject(ctx, s.cfg.Bucket, key, body, int64(len(data)), "", hex.EncodeToString(sum[:]),
				options)
		})
	end()
	return sent, err
}
