package process_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/deploy/process"
)

// GRAM_ADDR ranks above a configuration file: a child that inherited it would talk to the caller's cluster.
func TestEnvironmentLeavesTheCallersClusterBehind(t *testing.T) {
	t.Setenv("GRAM_ADDR", "https://production:7480")
	t.Setenv("GRAM_TOKEN", "secret")
	t.Setenv("OTHER", "kept")
	env := process.Environment("GRAM_CONFIG=/own")
	var gram []string
	for _, pair := range env {
		if strings.HasPrefix(pair, "GRAM_") {
			gram = append(gram, pair)
		}
	}
	if !slices.Equal(gram, []string{"GRAM_CONFIG=/own"}) || !slices.Contains(env, "OTHER=kept") {
		t.Errorf("variables of the child: %q, OTHER kept: %v", gram, slices.Contains(env, "OTHER=kept"))
	}
}
