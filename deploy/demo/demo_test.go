package main

import (
	"slices"
	"strings"
	"testing"
)

// In a terminal that reaches another cluster, the demo still talks to its own.
func TestCommandsReachTheDemosCluster(t *testing.T) {
	t.Setenv("GRAM_ADDR", "https://production:7480")
	d := &demo{binary: "gram", cluster: &cluster{config: "/demo/client.yaml"}}
	env := d.command(t.Context(), "submit").Env
	named := slices.DeleteFunc(slices.Clone(env), func(pair string) bool { return !strings.HasPrefix(pair, "GRAM_") })
	if !slices.Equal(named, []string{"GRAM_CONFIG=/demo/client.yaml"}) {
		t.Errorf("gram is called with %q", named)
	}
}
