package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/coordinator/gate"
)

// What a person does to exchange the admin's token.
func TestTokensAreExchanged(t *testing.T) {
	t.Parallel() // waits for an election
	c := clientOfCoordinator(t)
	first := c.env["GRAM_TOKEN"]
	c.want(exit.OK, c.run("token", "create", "--scope", "read", "--name", "dashboards", "--ttl", "720h"))
	reader := strings.TrimSpace(c.stdout.String())
	token, err := gate.ParseToken(reader)
	if err != nil || !strings.Contains(c.stderr.String(), token.ID) || strings.Contains(c.stderr.String(), reader) {
		t.Fatalf("%v: stdout has the token and stderr its id alone:\n%s", err, c.stderr)
	}
	c.want(exit.OK, c.again("token", "list"))
	for _, want := range []string{"dashboards", "admin.token", "worker.token", "never"} {
		if !strings.Contains(c.stdout.String(), want) {
			t.Errorf("the list lacks %s:\n%s", want, c.stdout.String())
		}
	}
	firstToken, err := gate.ParseToken(first)
	if err != nil {
		t.Fatal(err)
	}
	c.want(exit.Conflict, c.again("token", "revoke", firstToken.ID)) // the last admin

	file := filepath.Join(c.app.dir, "new.token")
	c.want(exit.OK, c.again("token", "create", "--scope", "admin", "--out", file))
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || c.stdout.Len() > 0 {
		t.Errorf("%v %v, stdout %q", info, err, c.stdout.String())
	}
	c.want(exit.Conflict, c.again("token", "create", "--scope", "admin", "--out", file)) // never over another
	c.env["GRAM_TOKEN"], c.env["GRAM_TOKEN_FILE"] = "", file
	c.want(exit.OK, c.again("token", "revoke", firstToken.ID))
	c.env["GRAM_TOKEN"], c.env["GRAM_TOKEN_FILE"] = first, ""
	c.want(exit.Denied, c.again("list"))
	c.env["GRAM_TOKEN"] = reader
	c.want(exit.OK, c.again("list"))
	c.want(exit.Denied, c.again("token", "list"))
	kept := filepath.Join(c.app.dir, "kept.token")
	c.want(exit.Denied, c.again("token", "create", "--scope", "admin", "--out", kept))
	if _, err := os.Stat(kept); !os.IsNotExist(err) {
		t.Errorf("a token that the cluster does not know was left in a file: %v", err)
	}
}

// A token's file is read again, so that a long-lived process is not ended by an exchange.
func TestATokenIsExchangedInItsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file+"-new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+"-new", file); err != nil {
			t.Fatal(err)
		}
	}
	write("one\n")
	b := client.InFile(file, "one")
	if got := b.Secret(); got != "one" {
		t.Errorf("got %q", got)
	}
	write("two\n")
	if got := b.Secret(); got != "two" {
		t.Errorf("after the exchange %q", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := b.Secret(); got != "two" {
		t.Errorf("without its file %q", got)
	}
}

func TestPKIIssue(t *testing.T) {
	c := newClient(t)
	dir := t.TempDir()
	authority := filepath.Join(dir, "pki")
	c.want(exit.OK, c.run("pki", "init", "--ca", authority))
	c.want(exit.OK, c.again("pki", "issue", "--ca", authority, "--role", "worker", "--out", filepath.Join(dir, "w1")))
	for _, name := range []string{"worker.pem", "worker-key.pem", "ca.pem"} {
		if _, err := os.Stat(filepath.Join(dir, "w1", name)); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range [][]string{
		{}, {"c2.example:7480"}, {"https://c2.example"}, {"10.0.0.256"}, {""}, {"-c2"}, {"c2..example"}, {"c2 c3"},
		{"--role", "worker", "one", "two"}, {"--role", "admin", "c2.example"},
	} {
		c.want(exit.Usage, c.again(append([]string{"pki", "issue", "--ca", authority, "--out",
			filepath.Join(dir, "c2")}, bad...)...))
	}
	if _, err := os.Stat(filepath.Join(dir, "c2")); !os.IsNotExist(err) {
		t.Errorf("something was made of bad names: %v", err)
	}
}
