package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// Compiling a package for every mutant takes ten times as long as its tests. So all of a package's mutants go into one
// test binary, and a variable of the environment names the live one (R. H. Untch, A. J. Offutt, M. J. Harrold,
// "Mutation Analysis Using Mutant Schemata", ISSTA 1993). What a function call cannot replace, such as a constant, is
// compiled on its own.

// live is the variable that names the live mutant.
const live = "GRAM_MUTANT"

// schema is a package with all mutants in it.
type schema struct {
	binary string         // its tests
	number map[mutant]int // of each mutant in it, from 1 on
}

// edit puts text in the place of a file's bytes from begin to end.
type edit struct {
	begin, end, span int // span orders edits at one place: opening ones from the widest, closing ones from the narrowest
	closing          bool
	text             string
}

// place is where a mutant's operator stands.
type place struct {
	file         string
	line, column int
}

// maxBuilds is how often build may try: the errors of one try may have hidden those of the next.
const maxBuilds = 6

// build compiles the tests of a folder with its mutants, as calls, into dir. It leaves out all mutants of a line that
// does not compile with them.
func build(ctx context.Context, folder, dir string, mutants []mutant) (*schema, error) {
	left := make(map[place]bool) // lines: without a column
	for range maxBuilds {
		s := &schema{binary: filepath.Join(dir, "tests"), number: make(map[mutant]int)}
		overlay, err := s.instrument(folder, dir, mutants, left)
		if err != nil {
			return nil, err
		}
		out, err := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-gcflags=-e", "-overlay", overlay,
			"-o", s.binary, "./"+folder).CombinedOutput()
		if err == nil {
			return s, nil
		}
		found := false
		for _, m := range complaint.FindAllSubmatch(out, -1) {
			line, _ := strconv.Atoi(string(m[2])) // the pattern has digits only
			left[place{file: filepath.Join(folder, filepath.Base(string(m[1]))), line: line}] = true
			found = true
		}
		if !found {
			return nil, fmt.Errorf("the tests of %s with mutants: %w\n%s", folder, err, out)
		}
	}
	return nil, errors.New("the tests of " + folder + " do not compile with mutants in them")
}

// complaint is a line of the compiler about a file.
var complaint = regexp.MustCompile(`(?m)^([^\s:]+\.go):(\d+):\d+: `)

// instrument writes the changed files, and returns the file of the overlay that has them in place of the true ones.
func (s *schema) instrument(folder, dir string, mutants []mutant, left map[place]bool) (string, error) {
	at := make(map[string]map[place][]mutant)
	for _, m := range mutants {
		if left[place{file: m.file, line: m.line}] {
			continue
		}
		if at[m.file] == nil {
			at[m.file] = make(map[place][]mutant)
		}
		p := place{m.file, m.line, m.column}
		at[m.file][p] = append(at[m.file][p], m)
	}
	files := make(overlay)
	name := filepath.Base(folder)
	for file, places := range at { // the order of files reaches no result
		src, err := read(file)
		if err != nil {
			return "", err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		name = src.tree.Name.Name
		if err := files.put(dir, file, s.rewrite(src, text, places)); err != nil {
			return "", err
		}
	}
	if err := files.put(dir, filepath.Join(folder, "mutantcalls.go"), fmt.Appendf(nil, calls, name)); err != nil {
		return "", err
	}
	return files.write(dir)
}

// rewrite puts the mutants into a file's text. Lines stay where they are.
func (s *schema) rewrite(src *source, text []byte, places map[place][]mutant) []byte {
	var edits []edit
	where := func(pos token.Pos) []mutant {
		p := src.fset.Position(pos)
		return places[place{p.Filename, p.Line, p.Column}]
	}
	offset := func(pos token.Pos) int { return src.fset.Position(pos).Offset }
	add := func(x, op, end token.Pos, size int, open, between string) {
		span := offset(end) - offset(x)
		edits = append(edits,
			edit{begin: offset(x), end: offset(x), span: span, text: open},
			edit{begin: offset(op), end: offset(op) + size, text: between},
			edit{begin: offset(end), end: offset(end), span: span, closing: true, text: ")"})
	}
	ast.Inspect(src.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.CONST
		case *ast.BinaryExpr:
			if open, between := s.call(n.Op, where(n.OpPos)); open != "" {
				add(n.X.Pos(), n.OpPos, n.Y.End(), len(n.Op.String()), open, between)
			}
		case *ast.UnaryExpr:
			if found := where(n.OpPos); n.Op == token.SUB && len(found) > 0 {
				begin, end := offset(n.OpPos), offset(n.End())
				call := fmt.Sprintf("mutantNeg(%d, ", s.enter(found, "INVERT_NEGATIVES"))
				edits = append(edits, edit{begin: begin, end: begin + 1, span: end - begin, text: call},
					edit{begin: end, end: end, span: end - begin, closing: true, text: ")"})
			}
		case *ast.IncDecStmt:
			if found := where(n.TokPos); len(found) > 0 {
				call := map[token.Token]string{token.INC: "mutantInc", token.DEC: "mutantDec"}[n.Tok]
				x := text[offset(n.X.Pos()):offset(n.X.End())]
				edits = append(edits, edit{begin: offset(n.TokPos), end: offset(n.TokPos) + 2,
					text: fmt.Sprintf(" = %s(%d, %s)", call, s.enter(found, "INCREMENT_DECREMENT"), x)})
			}
		}
		return true
	})
	return apply(text, edits)
}

// call returns the beginning of the function call that takes the place of an operator, and the text between its
// operands; both are "" if no mutant is found there.
func (s *schema) call(op token.Token, found []mutant) (open, between string) {
	if len(found) == 0 {
		return "", ""
	}
	turned, bound := s.enter(found, "CONDITIONALS_NEGATION"), s.enter(found, "CONDITIONALS_BOUNDARY")
	swapped := s.enter(found, "ARITHMETIC_BASE")
	if op == token.EQL || op == token.NEQ {
		return fmt.Sprintf("mutantNot(%d, ", turned), op.String()
	}
	if name, ok := comparisons[op]; ok {
		return fmt.Sprintf("%s(%d, %d, ", name, turned, bound), ","
	}
	if name, ok := operations[op]; ok {
		return fmt.Sprintf("%s(%d, ", name, swapped), ","
	}
	return "", ""
}

var (
	comparisons = map[token.Token]string{
		token.LSS: "mutantLess", token.LEQ: "mutantAtMost", token.GTR: "mutantMore", token.GEQ: "mutantAtLeast",
	}
	operations = map[token.Token]string{
		token.ADD: "mutantAdd", token.SUB: "mutantSub",
		token.MUL: "mutantMul", token.QUO: "mutantQuo", token.REM: "mutantRem",
	}
)

// enter numbers the mutant with this change and returns its number. Without such a mutant it is -1, which is never
// live.
func (s *schema) enter(found []mutant, change string) int {
	for _, m := range found {
		if m.change == change {
			s.number[m] = len(s.number) + 1
			return s.number[m]
		}
	}
	return -1
}

// apply makes edits. They do not overlap; several may insert text at one place.
func apply(text []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int {
		order := cmp.Compare(b.span, a.span)
		if a.closing {
			order = cmp.Compare(a.span, b.span)
		}
		closing := map[bool]int{true: 0, false: 1}
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(closing[a.closing], closing[b.closing]), order)
	})
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(text[at:e.begin])
		out.WriteString(e.text)
		at = e.end
	}
	out.Write(text[at:])
	return out.Bytes()
}
