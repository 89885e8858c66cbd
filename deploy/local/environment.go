package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// environment is what reaches the cluster from a shell.
func (c *cluster) environment() []string {
	env := append(c.home().ClientEnv(c.api(members)...), "GRAM_CLUSTER="+c.dir)
	return append(env, c.s3.Env(c.s3.Address)...)
}

// envFile holds the environment in the words of a POSIX shell.
func (c *cluster) envFile() string { return c.path("env") }

func (c *cluster) writeEnvironment() error {
	var text strings.Builder
	for _, pair := range c.environment() {
		name, value, _ := strings.Cut(pair, "=")
		fmt.Fprintf(&text, "export %s=%s\n", name, quoted(value))
	}
	fmt.Fprintf(&text, "export PATH=%s:\"$PATH\"\n", quoted(filepath.Dir(c.gram)))
	return os.WriteFile(c.envFile(), []byte(text.String()), 0o600) // it holds the store's secret
}

// quoted is one word of a POSIX shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// welcome tells people where everything is.
func (c *cluster) welcome() string {
	var text strings.Builder
	fmt.Fprintf(&text, "\ncluster: it serves, kept in %s\n", c.dir)
	for i := range members {
		fmt.Fprintf(&text, "  coordinator c%d   https://%s\n", i+1, c.members[i].API)
	}
	fmt.Fprintf(&text, "  store            s3://%s at http://%s\n", bucket, c.s3.Address)
	fmt.Fprintf(&text,
		"  TLS, authority   %s\n  token, people    %s\n  token, workers   %s\n  certificates     %s\n  process ids  "+
			"    "+
			"%s\n",
		c.home().CA(), c.home().AdminToken(), c.home().WorkerToken(), c.path("w*", "worker.pem"), c.path("*.pid"))
	fmt.Fprintf(&text,
		"In another terminal, first:\n\n  . %s\n\nCtrl-C ends it; the next start goes on where it was.\n",
		quoted(c.envFile()))
	return text.String()
}
