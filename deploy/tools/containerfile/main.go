// Command containerfile reads a container file as BuildKit does, and holds its last stage to
// our rules: nothing but the program on an empty root, and a user who is not root.
//
//	containerfile deploy/container/Containerfile
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: containerfile FILE")
		os.Exit(2)
	}
	breaches, err := check(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "containerfile:", err)
		os.Exit(1)
	}
	for _, breach := range breaches {
		fmt.Fprintf(os.Stderr, "%s: %s\n", os.Args[1], breach)
	}
	if len(breaches) > 0 {
		os.Exit(1)
	}
}

// check returns what is against the rules, BuildKit's own warnings among it.
func check(name string) (breaches []string, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	tree, err := parser.Parse(file)
	if err != nil {
		return nil, err
	}
	for _, warning := range tree.Warnings {
		breaches = append(breaches, warning.Short)
	}
	lint := linter.New(&linter.Config{Warn: func(rule, _, _, message string, _ []parser.Range) {
		breaches = append(breaches, rule+": "+message)
	}})
	stages, _, err := instructions.Parse(tree.AST, lint)
	if err != nil {
		return nil, err
	}
	if len(stages) != 2 || stages[0].Name != "build" {
		return append(breaches, "has other stages than one that builds and one that is shipped"), nil
	}
	return append(breaches, shipped(stages[1])...), nil
}

// labels are those of the image specification that every image of ours has.
var labels = []string{"title", "description", "source", "documentation", "licenses", "version", "revision", "created"}

func shipped(stage instructions.Stage) (breaches []string) {
	rule := func(kept bool, what string) {
		if !kept {
			breaches = append(breaches, what)
		}
	}
	rule(stage.BaseName == "scratch", "ships more than the program: it begins from "+stage.BaseName)
	seen := map[string]string{}
	user, entry := "", []string(nil)
	for _, command := range stage.Commands {
		switch c := command.(type) {
		case *instructions.CopyCommand:
			rule(c.From == "build", "copies from outside the build: "+c.String())
		case *instructions.LabelCommand:
			for _, label := range c.Labels {
				seen[label.Key] = label.Value
			}
		case *instructions.UserCommand:
			user = c.User
		case *instructions.EntrypointCommand:
			rule(!c.PrependShell, "starts through a shell")
			entry = c.CmdLine
		case *instructions.CmdCommand:
			rule(!c.PrependShell, "has arguments for a shell")
		case *instructions.EnvCommand, *instructions.ArgCommand, *instructions.StopSignalCommand,
			*instructions.ExposeCommand:
		default:
			rule(false, "does more than copy and describe: "+command.Name())
		}
	}
	id, group, both := strings.Cut(user, ":")
	uid, err := strconv.Atoi(id)
	gid, err2 := strconv.Atoi(group)
	rule(both && err == nil && err2 == nil && uid > 0 && gid > 0,
		fmt.Sprintf("runs as %q: Kubernetes can tell only from numbers that it is not root", user))
	rule(len(entry) == 1 && entry[0] == "/gram", fmt.Sprintf("starts %q", entry))
	for _, label := range labels {
		rule(strings.Trim(seen["org.opencontainers.image."+label], `"`) != "", "has no label "+label)
	}
	return breaches
}
