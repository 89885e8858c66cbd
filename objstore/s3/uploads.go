package s3

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/gram-compute/gram/objstore"
)

var _ objstore.UploadAborter = (*Store)(nil)

// AbortUploads gives up multipart uploads that began before a time: the server keeps their parts, unseen
// and paid for, until somebody does. MinIO lists none by a prefix; it expires them itself, after a day.
func (s *Store) AbortUploads(ctx context.Context, prefix string, before time.Time) (int, error) {
	if err := objstore.ValidPrefix(prefix); err != nil {
		return 0, s.fail("list", prefix, err)
	}
	var old []minio.ObjectMultipartInfo
	err := s.attempt(ctx, "list", prefix, func() error {
		old = old[:0]
		listing, stop := context.WithCancel(ctx) // the library's goroutine ends with it
		defer stop()
		for found := range s.client.ListIncompleteUploads(listing, s.cfg.Bucket, s.prefix+prefix, true) {
			if found.Err != nil {
				return found.Err
			}
			if found.Initiated.Before(before) {
				old = append(old, found)
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return 0, err
	}
	for n, u := range old {
		err := s.attempt(ctx, "delete", u.Key, func() error {
			err := s.core.AbortMultipartUpload(ctx, s.cfg.Bucket, u.Key, u.UploadID)
			var answer minio.ErrorResponse
			if errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound {
				return nil // finished or given up meanwhile
			}
			return err
		})
		if err != nil {
			return n, err
		}
	}
	return len(old), nil
}
