//go:build seededbugs

package s3_test

import (
	"testing"

	"github.com/gram-compute/gram/internal/seeded"
	"github.com/gram-compute/gram/internal/seeded/seededtest"
)

func TestSeededChangedAsUnwell(t *testing.T) {
	seededtest.Caught(t, seeded.ChangedAsUnwell, "TestConformanceVersitygw/HTTP/IfMatch",
		"store unavailable.*want object changed")
}
