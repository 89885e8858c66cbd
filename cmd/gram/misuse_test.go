package main

import (
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/command"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/spf13/cobra"
)

// Wrong invocations are answered in our words, with what to write instead.
func TestWrongInvocations(t *testing.T) {
	for line, want := range map[string]string{
		"submitt":                "Did you mean `gram submit`?",
		"ps":                     "Did you mean `gram list`?",
		"jobs":                   "Did you mean `gram list`?",
		"job list":               "Did you mean `gram list`?",
		"describe x":             "Did you mean `gram status`?",
		"schedule run x":         "Did you mean `gram schedule trigger`?",
		"schedule pouse x":       "Did you mean `gram schedule pause`?",
		"submit nb.yaml":         "A spec file is named with -f: `gram submit -f nb.yaml`.",
		"list tune-1":            "`gram status tune-1` shows one job.",
		"wait":                   "name a job: gram wait JOB...",
		"get":                    "name a job: gram get JOB|URI [RESULT]",
		"get a b c":              `"c" is an argument too many: gram get JOB|URI [RESULT]`,
		"schedule rm":            "name a schedule: gram schedule rm ID...",
		"cluster remove":         "name a member: gram cluster remove ID",
		"model alias prod":       "name a job: gram model alias NAME JOB",
		"wait a --timeout 5":     `--timeout wants a time with its unit, such as 5s, 5m or 5h, not "5"`,
		"list --limit many":      `--limit wants a whole number, not "many"`,
		"status --fast":          "unknown flag: --fast",
		"wait a --timeot 5s":     "Did you mean --timeout?",
		"logs a --tail 5":        "`gram logs JOB | tail` shows the last lines.",
		"submit":                 "gram submit wants --file (-f)",
		"model classify 'a cat'": "gram model classify wants --model",
		"help nosuch":            `unknown command "nosuch" for "gram"`,
	} {
		c := newClient(t)
		c.want(exit.Usage, c.run(strings.Fields(line)...))
		got := c.stderr.String()
		if !strings.Contains(got, want) {
			t.Errorf("gram %s:\n%swant %s", line, got, want)
		}
		for _, raw := range []string{"strconv", "time:", "arg(s)", "flag(s)"} {
			if strings.Contains(got, raw) {
				t.Errorf("gram %s: a library's words:\n%s", line, got)
			}
		}
	}
}

// Whatever is typed, no verb that ends or deletes something is suggested.
func TestNoDestructiveVerbIsSuggested(t *testing.T) {
	seen := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
			if !command.Destructive[sub.Name()] {
				continue
			}
			seen++
			for _, word := range []string{sub.Name() + "e", sub.Name()[1:], "run", "r", "rn", "delete"} {
				c := newClient(t)
				line := append(strings.Fields(cmd.CommandPath())[1:], word)
				if cmd.Runnable() && len(line) > 1 && line[1] == "alias" {
					continue // alias takes names
				}
				c.want(exit.Usage, c.run(line...))
				if got := c.stderr.String(); strings.Contains(got, "mean `"+cmd.CommandPath()+" "+sub.Name()) {
					t.Errorf("gram %s:\n%s", strings.Join(line, " "), got)
				}
			}
		}
	}
	visit(rootCommand(newClient(t).app))
	if seen < 7 {
		t.Errorf("only %d verbs are taken for destructive", seen)
	}
	for path, words := range command.OtherTools {
		for word, same := range words {
			if last := strings.Fields(same); command.Destructive[last[len(last)-1]] {
				t.Errorf("%s %s suggests %s", path, word, same)
			}
			found, _, err := rootCommand(newClient(t).app).Find(strings.Fields(same)[1:])
			if err != nil || found.CommandPath() == "gram" {
				t.Errorf("%s %s suggests %s, which is no command", path, word, same)
			}
		}
	}
}
