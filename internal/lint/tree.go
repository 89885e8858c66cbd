package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Module is the path of the module whose rules these are.
const Module = "github.com/gram-compute/gram"

// Finding is one place that breaks a rule.
type Finding struct {
	Path string // slash-separated, relative to the root
	Line int    // counted from 1; 0 means the whole file or folder
	What string
}

func (f Finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s", f.Path, f.What)
	}
	return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.What)
}

// File is one text file of the tree; Syntax is set for Go files only.
type File struct {
	Path   string // slash-separated, relative to the root
	Text   []byte
	Fset   *token.FileSet
	Syntax *ast.File
}

// Tree is the files that git knows or would add, in byte order of path.
type Tree []*File

// ReadTree reads the work tree at root.
func ReadTree(root string) (Tree, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the files of %s with git: %w", root, err)
	}
	var paths []string
	for p := range strings.SplitSeq(strings.Trim(string(out), "\x00"), "\x00") {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	var tree Tree
	for _, p := range paths {
		name := filepath.Join(root, filepath.FromSlash(p))
		info, err := os.Lstat(name)
		if os.IsNotExist(err) { // deleted, not yet committed
			continue
		}
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() { // a link: what it leads to is listed where it lies
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := NewFile(p, text)
		if err != nil {
			return nil, err
		}
		tree = append(tree, f)
	}
	return tree, nil
}

// NewFile makes a File, parsing it if path ends in .go and is not test data.
func NewFile(path string, text []byte) (*File, error) {
	f := &File{Path: path, Text: text, Fset: token.NewFileSet()}
	if !strings.HasSuffix(path, ".go") || inTestdata(path) {
		return f, nil
	}
	syntax, err := parser.ParseFile(f.Fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f.Syntax = syntax
	return f, nil
}

func inTestdata(p string) bool {
	return slices.Contains(strings.Split(p, "/"), "testdata")
}

// GoFiles returns the parsed files that were written by hand.
func (t Tree) GoFiles() []*File {
	return t.where(func(f *File) bool { return f.Syntax != nil && !ast.IsGenerated(f.Syntax) })
}

func (t Tree) where(keep func(*File) bool) []*File {
	var files []*File
	for _, f := range t {
		if keep(f) {
			files = append(files, f)
		}
	}
	return files
}

// Folder is the slash-separated folder of the file, "." at the root.
func (f *File) Folder() string { return path.Dir(f.Path) }

// IsTest reports whether go build leaves the file to go test.
func (f *File) IsTest() bool { return strings.HasSuffix(f.Path, "_test.go") }

// IsBinary reports whether the file holds a NUL byte among its first, as git judges.
func (f *File) IsBinary() bool {
	return bytes.IndexByte(f.Text[:min(len(f.Text), 8000)], 0) >= 0
}

func (f *File) line(pos token.Pos) int { return f.Fset.Position(pos).Line }

func (f *File) find(pos token.Pos, format string, args ...any) Finding {
	return Finding{Path: f.Path, Line: f.line(pos), What: fmt.Sprintf(format, args...)}
}
