// Package data_test checks that every data set `make data` fetches is pinned by a committed file.
package data_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

func TestEveryDataSetIsPinned(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	recipe := regexp.MustCompile(`(?m)^\tdeploy/data/fetch (.+)$`).FindSubmatch(makefile)
	if recipe == nil {
		t.Fatal("no target of the Makefile calls deploy/data/fetch")
	}
	listed, err := exec.Command("git", "ls-files", ".").Output()
	if err != nil {
		t.Skipf("not in a checkout: %v", err)
	}
	committed := strings.Fields(string(listed))
	for _, name := range strings.Fields(string(recipe[1])) {
		pins := 0
		for _, file := range committed {
			if file == name+".sha256" || file == name+".tree.sha256" {
				pins++
			}
		}
		if pins != 1 {
			t.Errorf("%d committed files pin data set %s, want one: %s.sha256 or %s.tree.sha256", pins, name, name,
				name)
		}
	}
}
