package clustertest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/kernelops"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/dir"
	"github.com/gram-compute/gram/verify"
)

// verifying checks the job of a folder with the given changes of what is asked for.
func verifying(t *testing.T, folder string, change func(*verify.Config)) *verify.Result {
	t.Helper()
	cfg := verify.Config{
		Read: func(_ context.Context, name string) ([]byte, error) {
			data, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
			if os.IsNotExist(err) {
				return nil, objstore.ErrNotFound
			}
			return data, err
		},
		OpenInput: func(_ context.Context, uri string) (objstore.Store, error) {
			return dir.Open(strings.TrimPrefix(uri, "file://"), dir.Options{ReadOnly: true})
		},
		Kind: all.Lookup, Ops: kernelops.Best(), Sample: verify.DefaultSample, Slots: 2,
	}
	change(&cfg)
	result, err := verify.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// Honest jobs of kinds of every make are verified, whatever is kept, under every kernel set, and by the command too.
func TestHonestJobsAreVerified(t *testing.T) {
	t.Parallel()
	input := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(input, []byte(strings.Join(cutRows(800), "")), 0o600); err != nil {
		t.Fatal(err)
	}
	for kind, params := range map[string]string{
		"KMeans":           `{"k":4,"assignments":true}`, // which passes bounds on from round to round, and writes files
		"NearestNeighbors": `{"store_base":true}`,        // which writes files in its steps
		"KernelMatrix":     `{}`,                         // which has a forest
		"Perceptron":       `{"over":"mixed"}`,
	} {
		for _, kept := range []string{"digests", "states", "full"} {
			t.Run(kind+"/"+kept, func(t *testing.T) {
				folder := provedRun(t, kind, input, params, kept)
				for _, set := range kernelops.All() {
					for _, change := range []func(*verify.Config){
						func(c *verify.Config) { c.All = true }, func(c *verify.Config) { c.Sample, c.Rounds = 10, 2 },
					} {
						r := verifying(t, folder, func(c *verify.Config) {
							c.Ops = set
							change(c)
						})
						if r.Verdict != verify.Verified {
							t.Errorf("%s: %+v, %v", set.Name, r, r.False)
						}
					}
				}
			})
		}
	}
}
