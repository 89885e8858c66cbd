package all_test

import (
	"testing"

	"github.com/gram-compute/gram/jobs/all/casetest"
	"github.com/gram-compute/gram/jobs/jobstest"
	"github.com/gram-compute/gram/kernelops"
)

// Models of hashed texts are the same under every kernel set.
func TestHashedTextsUnderEverySet(t *testing.T) {
	for _, c := range casetest.Of(t, casetest.Hashed) {
		for _, ops := range kernelops.All() {
			if got := jobstest.Digest(c.Train(t, casetest.Run{Data: casetest.Mails, Ops: ops})); got != c.Hashed {
				t.Errorf("%s, %s: %s", c.Name, ops.Name, got)
			}
		}
	}
}
