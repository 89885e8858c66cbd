package process

import (
	"os"
	"slices"
	"strings"
)

// Bare is an environment of its own: PATH, a home directory, and the given pairs.
func Bare(home string, pairs ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "NO_COLOR=1"}, pairs...)
}

// Environment is this process's environment without any GRAM_ variable, and with the given pairs. A child that
// gets it reaches the cluster that the pairs name, never one that the shell of the caller names.
func Environment(pairs ...string) []string {
	inherited := slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "GRAM_") })
	return append(inherited, pairs...)
}
