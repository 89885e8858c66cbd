// Kindpages writes the reference of every kind, docs/kinds, from the declarations of its parameters.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/jobs/params"
)

func main() {
	folder := flag.String("out", "docs/kinds", "`folder` of the pages")
	flag.Parse()
	if err := write(*folder); err != nil {
		fmt.Fprintln(os.Stderr, "kindpages:", err)
		os.Exit(1)
	}
}

// write replaces the pages of a folder.
func write(folder string) error {
	old, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return err
	}
	for _, name := range old {
		err = errors.Join(err, os.Remove(name))
	}
	if err != nil {
		return err
	}
	for name, text := range pages() {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), text, 0o644))
	}
	return err
}

const origin = "<!-- Written by deploy/kindpages (make generate): edit the declarations in jobs/. -->\n\n"

// pages are the files by name: one for each kind, and a list.
func pages() map[string][]byte {
	var list bytes.Buffer
	list.WriteString("# Kinds of jobs\n\n" + origin)
	list.WriteString("`gram kinds` prints this list, `gram kinds KIND` the parameters of a kind, and\n" +
		"`gram kinds --schema` the JSON Schema of specs. Names are those in `spec.params`.\n\n| Kind | |\n|---|---|\n")
	files := map[string][]byte{}
	for _, kind := range all.Kinds() {
		fmt.Fprintf(&list, "| [%[1]s](%[1]s.md) | %[2]s |\n", kind.Name, kind.Summary)
		files[kind.Name+".md"] = page(kind)
	}
	files["README.md"] = list.Bytes()
	return files
}

func page(kind jobs.Kind) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n%s%s\n\n", kind.Name, origin, kind.Summary)
	if kind.UsesQueries {
		b.WriteString("Reads `spec.queries`. ")
	}
	if kind.UsesModel {
		b.WriteString("Reads `spec.model`. ")
	}
	if kind.Evaluates {
		b.WriteString("Reads [`spec.evaluation`](../evaluation.md). ")
	}
	b.WriteString("These are the fields of `spec.params`:\n\n")
	b.WriteString(params.Markdown(kind.Params.List()))
	return b.Bytes()
}
