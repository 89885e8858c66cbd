package s3server

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Program is a program that serves S3.
type Program int

const (
	// Versitygw is the server of `make test`.
	Versitygw Program = iota
	// MinIO is the server of `make test-minio`; its build takes minutes.
	MinIO
)

// String gives the binary's name.
func (p Program) String() string { return [...]string{"versitygw", "minio"}[p] }

// required is the variable that turns a missing binary from a skip into a failure.
func (p Program) required() string { return [...]string{"REQUIRE_VERSITYGW", "REQUIRE_MINIO"}[p] }

func (p Program) makeTarget() string { return [...]string{"make tools", "make bin/minio"}[p] }

// find locates the binary, or ends the test.
func (p Program) find(t testing.TB) string {
	t.Helper()
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(root, "bin", p.String())
	if _, err := os.Stat(binary); err == nil {
		return binary
	}
	if os.Getenv(p.required()) != "" {
		t.Fatalf("%s is set, but bin/%s is not there; `%s` builds it", p.required(), p, p.makeTarget())
	}
	t.Skipf("bin/%s is not there; `%s` builds it", p, p.makeTarget())
	return ""
}

// repository is the folder of the go.mod above the working directory.
func repository() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// command gives the arguments and environment that serve s.data on s.addr.
func (s *Server) command() (args, env []string, err error) {
	if s.opt.Program == MinIO {
		return s.minio()
	}
	args = []string{"--port", s.addr, "--quiet", "--keep-alive"}
	if s.cert != nil {
		args = append(args, "--cert", s.cert.file, "--key", s.cert.keyFile)
	}
	args = append(args, "posix")
	data, sidecar := filepath.Join(s.data, "objects"), filepath.Join(s.data, "attributes")
	if err := errors.Join(os.MkdirAll(data, 0o755), os.MkdirAll(sidecar, 0o755)); err != nil {
		return nil, nil, err
	}
	if !hasUserAttributes(data) {
		args = append(args, "--sidecar", sidecar)
	}
	return append(args, data), []string{"ROOT_ACCESS_KEY=" + AccessKey, "ROOT_SECRET_KEY=" + SecretKey}, nil
}

func (s *Server) minio() (args, env []string, err error) {
	args = []string{"server", "--quiet", "--address", s.addr}
	if s.cert != nil {
		args = append(args, "--certs-dir", s.cert.dir)
	}
	return append(args, s.data), []string{"MINIO_ROOT_USER=" + AccessKey, "MINIO_ROOT_PASSWORD=" + SecretKey,
		"MINIO_BROWSER=off"}, nil
}

// hasUserAttributes: the file system keeps the attributes in which versitygw stores metadata.
func hasUserAttributes(dir string) bool {
	return unix.Setxattr(dir, "user.gram.probe", []byte("1"), 0) == nil
}
