// Package s3server runs real S3 servers for tests: a child process on a free
// loopback port with its data in a test's folder, which a test can kill and
// start again.
//
// The binaries are those in bin/ of the repository: versitygw, which `make tools` builds,
// and minio, which `make bin/minio` builds. Without its binary a test is skipped,
// or fails when REQUIRE_VERSITYGW or REQUIRE_MINIO is set.
package s3server

import (
	"context"
	"crypto/x509"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/gram-compute/gram/objstore/s3"
)

// AccessKey and SecretKey are the credentials of every server started here.
const (
	AccessKey = "gramtest"
	SecretKey = "gramtestsecret"
)

// Options says how to start a server. The zero value is versitygw over plain HTTP on a fresh folder.
type Options struct {
	Program Program
	TLS     bool   // with a certificate of its own
	Dir     string // where the data lies; empty means a fresh t.TempDir
}

// Server is a running, or killed, S3 server.
type Server struct {
	addr   string // host:port, the same after a restart
	opt    Options
	binary string
	cert   *certificate // nil without TLS
	data   string
	child  *child
}

// Start runs a server until the test ends. It skips or fails the test where there is no binary.
func Start(t testing.TB, opt Options) *Server {
	t.Helper()
	s := &Server{opt: opt, binary: opt.Program.find(t), data: opt.Dir}
	if s.data == "" {
		s.data = t.TempDir()
	}
	if opt.TLS {
		cert, err := newCertificate(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		s.cert = cert
	}
	if err := s.startSomewhere(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

// Data is the folder of the server's buckets, with a file for each object.
func (s *Server) Data() string { return s.data }

// Endpoint is the server's URL.
func (s *Server) Endpoint() string {
	if s.cert != nil {
		return "https://" + s.addr
	}
	return "http://" + s.addr
}

// RootCAs trusts the server's certificate; nil without TLS.
func (s *Server) RootCAs() *x509.CertPool {
	if s.cert == nil {
		return nil
	}
	return s.cert.pool
}

// Env is what a child process needs in its environment to reach the server.
func (s *Server) Env() []string {
	env := []string{
		"AWS_ENDPOINT_URL_S3=" + s.Endpoint(), "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=" + AccessKey, "AWS_SECRET_ACCESS_KEY=" + SecretKey, "AWS_SESSION_TOKEN=",
	}
	if s.cert != nil {
		env = append(env, "AWS_CA_BUNDLE="+s.cert.file)
	}
	return env
}

// Config reaches a bucket of the server.
func (s *Server) Config(bucket string) s3.Config {
	return s3.Config{Bucket: bucket, Endpoint: s.Endpoint(), Region: "us-east-1",
		AccessKey: AccessKey, SecretKey: SecretKey, RootCAs: s.RootCAs()}
}

// MakeBucket makes a bucket.
func (s *Server) MakeBucket(t testing.TB, bucket string) {
	t.Helper()
	client, err := s.client()
	if err == nil {
		err = client.MakeBucket(t.Context(), bucket, minio.MakeBucketOptions{})
	}
	if err != nil {
		t.Fatalf("make bucket %s: %v", bucket, err)
	}
}

// Open makes the bucket and opens it as a store.
func (s *Server) Open(t testing.TB, bucket string) *s3.Store {
	t.Helper()
	s.MakeBucket(t, bucket)
	store, err := s3.Open(s.Config(bucket))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func (s *Server) client() (*minio.Client, error) {
	transport, err := minio.DefaultTransport(s.cert != nil)
	if err != nil {
		return nil, err
	}
	if s.cert != nil {
		transport.TLSClientConfig.RootCAs = s.cert.pool
	}
	return minio.New(s.addr, &minio.Options{
		Creds: credentials.NewStaticV4(AccessKey, SecretKey, ""), Secure: s.cert != nil,
		Region: "us-east-1", Transport: transport, MaxRetries: 1,
	})
}

// answers says whether the server takes a signed request.
func (s *Server) answers(ctx context.Context) error {
	client, err := s.client()
	if err != nil {
		return err
	}
	defer client.CredContext().Client.CloseIdleConnections()
	_, err = client.ListBuckets(ctx)
	return err
}

// Kill ends the server with SIGKILL and waits for its end. Killing it twice is no error.
func (s *Server) Kill() {
	if s.child != nil {
		s.child.kill()
		s.child = nil
	}
}

// Restart starts the server again, on the same address and data.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Kill()
	if err := s.start(t.Context()); err != nil {
		t.Fatal(err)
	}
}
