package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/minio/minio-go/v7"

	"github.com/gram-compute/gram/objstore"
)

// Put stores data under key: as one PUT up to Config.SinglePut bytes, else as a multipart upload.
func (s *Store) Put(ctx context.Context, key string, data []byte) (objstore.Info, error) {
	send := s.putMultipart
	if int64(len(data)) <= s.cfg.SinglePut {
		send = s.putSingle
	}
	var sent minio.UploadInfo
	err := s.retry(ctx, "put", key, func() (err error) {
		sent, err = send(ctx, s.prefix+key, data)
		return err
	})
	if err != nil {
		return objstore.Info{}, err
	}
	return objstore.Info{Key: key, Size: int64(len(data)), ETag: sent.ETag, VersionID: sent.VersionID}, nil
}

const contentType = "application/octet-stream"

// putSingle signs the SHA-256 of the bytes with the request, so that every
// server must check them.
func (s *Store) putSingle(ctx context.Context, key string, data []byte) (minio.UploadInfo, error) {
	sum := sha256.Sum256(data)
	return s.core.PutObject(ctx, s.cfg.Bucket, key, bytes.NewReader(data), int64(len(data)), "", hex.EncodeToString(sum[:]),
		minio.PutObjectOptions{ContentType: contentType, DisableMultipart: true, DisableContentSha256: true})
}

func (s *Store) putMultipart(ctx context.Context, key string, data []byte) (minio.UploadInfo, error) {
	return s.client.PutObject(ctx, s.cfg.Bucket, key, bytes.NewReader(data), int64(len(data)),
		minio.PutObjectOptions{ContentType: contentType, PartSize: s.cfg.PartSize, SendContentMd5: true})
}
