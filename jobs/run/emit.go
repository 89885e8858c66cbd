package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
)

// maxEmitName bounds the name of an emitted file.
const maxEmitName = 128

// reservedStems are what the files are called that a job always leaves, before the first dot.
var reservedStems = []string{"bom", "model", "provenance", "report"}

// CheckFileName says whether a job may emit a file of this name: one or two segments of
// letters, digits, ".", "_" and "-", none beginning with a dot, and not the name of a file that
// every job leaves (bom.*, model.*, provenance.*, report.*, proof/). One name must not be the folder of another.
func CheckFileName(name string) error {
	segments := strings.Split(name, "/")
	if len(name) > maxEmitName || len(segments) > 2 {
		return fmt.Errorf("jobs: an emitted file's name has at most %d bytes in two segments, not %.200q", maxEmitName,
			name)
	}
	for _, segment := range segments {
		if segment == "" || segment[0] == '.' || strings.ContainsFunc(segment, func(c rune) bool {
			return !nameRune(c)
		}) {
			return fmt.Errorf("jobs: an emitted file's name has segments of letters, digits, '.', '_' and '-': %.200q",
				name)
		}
	}
	stem, _, _ := strings.Cut(name, ".")
	if slices.Contains(reservedStems, stem) || strings.HasPrefix(name, proof.Folder) {
		return fmt.Errorf("jobs: the emitted file name %q is reserved", name)
	}
	return nil
}

func nameRune(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

var errNoEmit = errors.New("jobs: nothing takes emitted files here")

// checked returns emit, which refuses bad names before they reach a store.
func checked(emit jobs.Emit) jobs.Emit {
	return func(ctx context.Context, name string, data []byte) (jobs.File, error) {
		if err := CheckFileName(name); err != nil {
			return jobs.File{}, err
		}
		if emit == nil {
			return jobs.File{}, errNoEmit
		}
		return emit(ctx, name, data)
	}
}
