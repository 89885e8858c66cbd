package cluster

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// Store is versitygw, an S3 server that keeps objects as files: a folder is a bucket.
type Store struct {
	Binary               string
	Folder               string // keeps objects, and what the server knows of them
	Address              string
	AccessKey, SecretKey string
}

// Bucket is the folder of a bucket.
func (s Store) Bucket(name string) string { return filepath.Join(s.Folder, "objects", name) }

func (s Store) attributes() string { return filepath.Join(s.Folder, "attributes") }

// Prepare makes the folders, with a bucket.
func (s Store) Prepare(bucket string) error {
	return errors.Join(os.MkdirAll(s.Bucket(bucket), 0o700), os.MkdirAll(s.attributes(), 0o700))
}

// Command runs the server with this environment.
func (s Store) Command(environment []string) *exec.Cmd {
	cmd := exec.Command(s.Binary, "--port", s.Address, "--quiet", "--keep-alive",
		"posix", "--sidecar", s.attributes(), filepath.Join(s.Folder, "objects"))
	cmd.Env = append(environment, "ROOT_ACCESS_KEY="+s.AccessKey, "ROOT_SECRET_KEY="+s.SecretKey)
	return cmd
}

// Env configures an S3 client for the server, or for a proxy before it at another address.
func (s Store) Env(address string) []string {
	return []string{"AWS_ENDPOINT_URL_S3=http://" + address, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=" + s.AccessKey, "AWS_SECRET_ACCESS_KEY=" + s.SecretKey, "AWS_SESSION_TOKEN="}
}
