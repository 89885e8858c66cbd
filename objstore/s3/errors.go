package s3

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/gram-compute/gram/objstore"
)

// errPermanent marks an ErrUnavailable that trying again at once will not cure.
var errPermanent = errors.New("not tried again")

// errProtocol: the server does what no S3 server may, and will do it again.
var errProtocol = errors.New("the server breaks the S3 protocol")

// sentinels tells what S3's error codes mean, where the HTTP status alone would mislead.
var sentinels = map[string]error{
	"NoSuchKey":                     objstore.ErrNotFound,
	"NoSuchVersion":                 objstore.ErrNotFound,
	"NoSuchBucket":                  objstore.ErrInvalidURI,
	"InvalidBucketName":             objstore.ErrInvalidURI,
	"PermanentRedirect":             objstore.ErrInvalidURI,
	"XAdminUserNotFound":            objstore.ErrDenied, // versitygw: 404 for an unknown access key
	"ExpiredToken":                  objstore.ErrDenied,
	"InvalidToken":                  objstore.ErrDenied,
	"TokenRefreshRequired":          objstore.ErrDenied,
	"RequestTimeout":                objstore.ErrUnavailable,
	"BadDigest":                     objstore.ErrUnavailable, // the bytes were damaged on their way
	"InvalidDigest":                 objstore.ErrUnavailable,
	"XAmzContentSHA256Mismatch":     objstore.ErrUnavailable,
	"IncompleteBody":                objstore.ErrUnavailable,
	"KeyTooLongError":               objstore.ErrInvalidKey,
	"ObjectParentIsFile":            objstore.ErrInvalidKey, // versitygw
	"ExistingObjectIsDirectory":     objstore.ErrInvalidKey, // versitygw
	"XMinioParentIsObject":          objstore.ErrInvalidKey, // MinIO
	"XMinioObjectExistsAsDirectory": objstore.ErrInvalidKey,
	"XMinioInvalidObjectName":       objstore.ErrInvalidKey,
}

// mapErr adds the sentinel that tells what an error of minio-go means.
func mapErr(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || known(err) {
		return err
	}
	if resp, ok := errors.AsType[minio.ErrorResponse](err); ok {
		return mapResponse(resp)
	}
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case certificate:
		return fmt.Errorf("%w: %w: %w (if the authority is private, name it in AWS_CA_BUNDLE)", objstore.ErrUnavailable,
			errPermanent, err)
	case errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("%w: %w: %w (write http:// in the endpoint)", objstore.ErrUnavailable, errPermanent, err)
	}
	return fmt.Errorf("%w: %w", objstore.ErrUnavailable, err)
}

func known(err error) bool {
	for _, sentinel := range []error{objstore.ErrNotFound, objstore.ErrChanged, objstore.ErrExists, objstore.ErrDenied,
		objstore.ErrUnavailable,
		objstore.ErrInvalidKey, objstore.ErrRange, objstore.ErrInvalidURI, errProtocol} {
		if errors.Is(err, sentinel) {
			return true
		}
	}
	return false
}

func mapResponse(resp minio.ErrorResponse) error {
	text := fmt.Sprintf("%s (%s, HTTP %d)", printable(resp.Message), printable(resp.Code), resp.StatusCode)
	sentinel, ok := sentinels[resp.Code]
	if !ok {
		sentinel = byStatus(resp.StatusCode)
	}
	switch {
	case sentinel == nil:
		return errors.New(text)
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return fmt.Errorf("%w: the server sends us elsewhere, which is refused; check endpoint and region: %s",
			sentinel, text)
	case resp.StatusCode == http.StatusNotImplemented:
		return fmt.Errorf("%w: %w: %s", sentinel, errPermanent, text)
	}
	return fmt.Errorf("%w: %s", sentinel, text)
}

func byStatus(status int) error {
	switch status {
	case http.StatusPreconditionFailed:
		return objstore.ErrChanged
	case http.StatusUnauthorized, http.StatusForbidden:
		return objstore.ErrDenied
	case http.StatusRequestedRangeNotSatisfiable:
		return objstore.ErrRange
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return objstore.ErrUnavailable
	}
	switch {
	case status >= 500:
		return objstore.ErrUnavailable
	case status >= 300 && status < 400:
		return objstore.ErrInvalidURI
	}
	return nil
}

// printable keeps a server's text to one line of bounded length.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "..."
	}
	return s
}
