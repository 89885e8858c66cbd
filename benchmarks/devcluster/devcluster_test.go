package devcluster

import (
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/deploy/cluster"
)

// In a terminal that reaches another cluster, a benchmark still talks to its own, and so does the `gram dev` it runs.
func TestCommandsReachTheBenchmarksCluster(t *testing.T) {
	t.Setenv("GRAM_ADDR", "https://production:7480")
	t.Setenv("GRAM_TOKEN", "secret")
	t.Setenv("OTHER", "kept")
	c := &Cluster{binary: "gram", dir: t.TempDir(), dev: &cluster.Dev{Config: "/own/client.yaml"}}
	for want, env := range map[string][]string{
		"GRAM_CONFIG=/own/client.yaml": c.Command(t.Context(), "submit").Env,
		"GRAM_CONFIG=":                 Command(t.Context(), "gram", c.dir, "", "run").Env,
	} {
		outside := func(pair string) bool { return !strings.HasPrefix(pair, "GRAM_") }
		named := slices.DeleteFunc(slices.Clone(env), outside)
		if !slices.Equal(named, []string{want}) || !slices.Contains(env, "OTHER=kept") {
			t.Errorf("gram is called with %q, want %q and OTHER", named, want)
		}
	}
}
