package s3_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/objstoretest"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
)

func conformance(t *testing.T, opt s3server.Options) {
	server := s3server.Start(t, opt)
	var n atomic.Int64
	objstoretest.Run(t, func(t *testing.T) objstore.Store {
		return server.Open(t, fmt.Sprintf("conformance-%d", n.Add(1)))
	})
}

func TestConformanceVersitygw(t *testing.T) {
	t.Run("HTTP", func(t *testing.T) { conformance(t, s3server.Options{}) })
	t.Run("TLS", func(t *testing.T) { conformance(t, s3server.Options{TLS: true}) })
}

func TestConformanceMinIO(t *testing.T) {
	t.Run("HTTP", func(t *testing.T) { conformance(t, s3server.Options{Program: s3server.MinIO}) })
	t.Run("TLS", func(t *testing.T) { conformance(t, s3server.Options{Program: s3server.MinIO, TLS: true}) })
}
