// Package documented finds the commands in our documents, and runs them as a reader would.
package documented

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// ErrAbsent: the document has no such section, or it holds no such block.
var ErrAbsent = errors.New("not in the document")

// Blocks are the fenced blocks in a language of the section "## title" of a document, in order.
func Blocks(file, title, language string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	_, section, found := strings.Cut(string(text), "\n## "+title+"\n")
	if !found {
		return nil, fmt.Errorf("section %q of %s: %w", title, file, ErrAbsent)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var blocks []string
	for _, fence := range regexp.MustCompile("(?ms)^```"+regexp.QuoteMeta(language)+
		"\n(.*?)^```$").FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, fence[1])
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("section %q of %s: a block in %s: %w", title, file, language, ErrAbsent)
	}
	return blocks, nil
}

// Run has a shell run a script in a folder, with PATH, HOME and what env adds as its environment. It stops
// at the first command that fails; the error then holds all that was written.
func Run(ctx context.Context, folder string, env []string, script string) (stdout string, err error) {
	cmd := exec.CommandContext(ctx, "sh", "-eu")
	cmd.Dir, cmd.Stdin = folder, strings.NewReader(script)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "NO_COLOR=1"}, env...)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%w\n%s\n%s\n%s", err, script, out.String(), complaints.String())
	}
	return out.String(), nil
}
