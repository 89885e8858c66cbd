package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/minio/minio-go/v7"
	"golang.org/x/sync/errgroup"

	"github.com/gram-compute/gram/objstore"
)

const (
	mostParts   = 10_000 // of an upload, by S3
	partsAtOnce = 4
	// abortLimit is for how long a failed upload is given up. One that stays is invisible, and swept later.
	abortLimit = 10 * time.Second
)

// putMultipart sends data in parts, each with its SHA-256 signed and with a second request beside it once it is late:
// of two that arrive under one number the server keeps either, and they are the same bytes.
func (s *Store) putMultipart(
	ctx context.Context, key string, data []byte, _ objstore.PutOptions,
) (_ minio.UploadInfo, err error) {
	id, err := s.core.NewMultipartUpload(ctx, s.cfg.Bucket, key, minio.PutObjectOptions{ContentType: contentType})
	if err != nil {
		return minio.UploadInfo{}, err
	}
	defer func() {
		if err != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortLimit)
			defer cancel()
			_ = s.core.AbortMultipartUpload(ctx, s.cfg.Bucket, key, id) // what counts is why it is given up
		}
	}()
	size := max(int(s.cfg.PartSize), (len(data)+mostParts-1)/mostParts)
	parts := make([]minio.CompletePart, (len(data)+size-1)/size)
	group, own := errgroup.WithContext(ctx)
	group.SetLimit(partsAtOnce)
	for i := range parts {
		group.Go(func() (err error) {
			parts[i], err = s.putPart(own, key, id, i+1, data[i*size:min((i+1)*size, len(data))])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return minio.UploadInfo{}, err
	}
	return s.core.CompleteMultipartUpload(ctx, s.cfg.Bucket, key, id, parts, minio.PutObjectOptions{})
}

// putPart sends the part of an upload that has this number, counted from 1.
func (s *Store) putPart(ctx context.Context, key, id string, number int, data []byte) (minio.CompletePart, error) {
	sum := sha256.Sum256(data)
	options := minio.PutObjectPartOptions{Sha256Hex: hex.EncodeToString(sum[:]), DisableContentSha256: true}
	sent, end, err := hedged(ctx, s.answerAfter(len(data)), func(minio.ObjectPart) {},
		func(ctx context.Context, p *progress) (minio.ObjectPart, error) {
			body := &movingReader{bytes.NewReader(data), p}
			return s.core.PutObjectPart(ctx, s.cfg.Bucket, key, id, number, body, int64(len(data)), options)
		})
	end()
	return minio.CompletePart{PartNumber: number, ETag: sent.ETag}, err
}

// answerAfter is how long a server that is well may move nothing of a request of that size, in bytes.
func (s *Store) answerAfter(size int) time.Duration {
	return s.cfg.HedgeAfter + time.Duration(size/storeRate)*time.Second
}
