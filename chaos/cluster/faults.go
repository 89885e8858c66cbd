package cluster

import (
	"path/filepath"

	"connectrpc.com/connect"
	deployed "github.com/gram-compute/gram/deploy/cluster"
)

// ClockFile is the file that puts a host's wall clock wrong, in a binary built with -tags faults.
func (c *Cluster) ClockFile(host string) string { return filepath.Join(c.Folder, host+".clock") }

// DiskFile is the file that lets a host's writes to its log fail while it is there, in such a binary.
func (c *Cluster) DiskFile(host string) string { return filepath.Join(c.Folder, host+".disk") }

// faultEnv names the files by which a host's processes are disturbed.
func (c *Cluster) faultEnv(host string) []string {
	if !c.Faults {
		return nil
	}
	return []string{"GRAM_CLOCK_SKEW_FILE=" + c.ClockFile(host), "GRAM_DISK_FAULT_FILE=" + c.DiskFile(host)}
}

// BucketFolder is where the S3 server keeps the bucket's objects, each a file named by its key.
func (c *Cluster) BucketFolder() string { return c.store.Bucket(Bucket) }

// Token is a first token of a scope, "admin" or "worker".
func (c *Cluster) Token(scope string) (string, error) {
	return deployed.ReadToken(filepath.Join(string(c.first()), scope+".token"))
}

// Bearer is the option by which calls carry a token.
func (c *Cluster) Bearer(token string) connect.ClientOption {
	return deployed.Bearer(token)
}
