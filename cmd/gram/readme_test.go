package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// block returns the first fenced block of a language in a page, and what follows it.
func block(t *testing.T, page, language string) (text, rest string) {
	t.Helper()
	_, after, found := strings.Cut(page, "\n```"+language+"\n")
	text, rest, ends := strings.Cut(after, "\n```\n")
	if !found || !ends {
		t.Fatalf("no block of %q", language)
	}
	return text + "\n", rest
}

// readme returns README.md, and links the files that its commands name into the folder of a session.
func readme(t *testing.T, c *session) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"testdata", "examples"} {
		folder, err := filepath.Abs(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(folder, filepath.Join(c.app.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return string(page)
}

// The spec of README makes what README says, to the digest.
func TestTheSpecOfREADME(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	spec, rest := block(t, readme(t, c), "yaml")
	c.want(0, c.run("run", "-f", c.writeSpec(spec)))
	told, _ := block(t, rest, "")
	for line := range strings.Lines(told) {
		if !strings.Contains(c.stdout.String(), line) {
			t.Errorf("gram run does not print %q:\n%s", line, c.stdout.String())
		}
	}
}

// The first steps of README work, and write only what git ignores: models/.
func TestTheFirstStepsOfREADME(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	_, steps, _ := strings.Cut(readme(t, c), "\n## First steps\n")
	steps, _ = block(t, steps, "")
	count := 0
	for line := range strings.Lines(steps) {
		command, found := strings.CutPrefix(line, "gram ")
		if !found {
			continue
		}
		count++
		command, _, _ = strings.Cut(command, "#")
		command, text, _ := strings.Cut(command, " '")
		if jobs, err := filepath.Glob(filepath.Join(c.app.dir, "models", "glosses-*")); err == nil && len(jobs) > 0 {
			command = strings.Replace(command, "/ID/", "/"+filepath.Base(jobs[0])+"/", 1)
		}
		command = strings.Replace(command, "examples/", c.app.dir+"/examples/", 1) // the process is in another folder
		args := strings.Fields(command)
		if text != "" {
			args = append(args, strings.TrimSuffix(strings.TrimSpace(text), "'"))
		}
		c.want(0, c.run(args...))
	}
	if count != 4 {
		t.Errorf("%d commands of gram", count)
	}
	left, err := os.ReadDir(c.app.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		if name := entry.Name(); name != "models" && name != "testdata" && name != "examples" {
			t.Errorf("the first steps leave %s", name)
		}
	}
}
