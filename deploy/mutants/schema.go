package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
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
// test binary, and a variable of the environment names the one that is live (R. H. Untch, A. J. Offutt, M. J. Harrold,
// "Mutation Analysis Using Mutant Schemata", ISSTA 1993). Each operator becomes a call of a function, which computes
// what the operator does, or what the live mutant makes of it. A mutant in a place where no call may stand, such as a
// constant, is compiled on its own.

// live is the variable that names the live mutant by its number; 0 means no mutant.
const live = "GRAM_MUTANT"

// schema is a package's test binary with its mutants.
type schema struct {
	binary string
	number map[mutant]int // of the mutants in the binary, from 1
}

// place is where a mutant's operator is.
type place struct {
	file         string
	line, column int
}

// build compiles the tests of a folder into dir, with every mutant that a call can make. It leaves out the mutants of
// lines that do not compile with calls in them, and tries again, for one faulty line can hide others.
func build(ctx context.Context, folder, dir string, mutants []mutant) (*schema, error) {
	skipped := make(map[place]bool) // whole lines: columns are 0
	var out []byte
	for range 6 {
		s := &schema{binary: filepath.Join(dir, "tests"), number: make(map[mutant]int)}
		overlay, err := s.instrument(folder, dir, mutants, skipped)
		if err != nil {
			return nil, err
		}
		out, err = exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-gcflags=-e", "-overlay", overlay,
			"-o", s.binary, "./"+folder).CombinedOutput()
		if err == nil {
			return s, nil
		}
		complaints := complaint.FindAllSubmatch(out, -1)
		if len(complaints) == 0 {
			return nil, fmt.Errorf("the tests of %s with mutants: %w\n%s", folder, err, out)
		}
		for _, m := range complaints {
			line, _ := strconv.Atoi(string(m[2])) // the pattern has digits only
			skipped[place{file: filepath.Join(folder, filepath.Base(string(m[1]))), line: line}] = true
		}
	}
	return nil, fmt.Errorf("the tests of %s do not compile with mutants in them:\n%s", folder, out)
}

// complaint matches an error of the compiler.
var complaint = regexp.MustCompile(`(?m)^([^\s:]+\.go):(\d+):\d+: `)

// instrument writes the changed files, and returns the overlay that makes the compiler read them instead of the
// originals.
func (s *schema) instrument(folder, dir string, mutants []mutant, skipped map[place]bool) (string, error) {
	at := make(map[string]map[place][]mutant)
	for _, m := range mutants {
		if skipped[place{file: m.file, line: m.line}] {
			continue
		}
		if at[m.file] == nil {
			at[m.file] = make(map[place][]mutant)
		}
		p := place{m.file, m.line, m.column}
		at[m.file][p] = append(at[m.file][p], m)
	}
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	replace := make(map[string]string)
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
		with := filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(with, s.rewrite(src, text, places), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(absolute, filepath.Base(file))] = with
	}
	with := filepath.Join(dir, "mutantcalls.go")
	replace[filepath.Join(absolute, "mutantcalls.go")] = with
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, errors.Join(
		os.WriteFile(with, fmt.Appendf(nil, calls, name), 0o600),
		os.WriteFile(overlay, list, 0o600))
}

// rewrite puts the mutants into a file's text. Every line keeps its number.
func (s *schema) rewrite(src *source, text []byte, places map[place][]mutant) []byte {
	var edits []edit
	offset := func(pos token.Pos) int { return src.fset.Position(pos).Offset }
	at := func(pos token.Pos) []mutant {
		p := src.fset.Position(pos)
		return places[place{p.Filename, p.Line, p.Column}]
	}
	replace := func(pos token.Pos, size int, by string) {
		edits = append(edits, edit{begin: offset(pos), end: offset(pos) + size, text: by})
	}
	enclose := func(n ast.Expr, open string) {
		begin, end := offset(n.Pos()), offset(n.End())
		edits = append(edits, edit{begin: begin, end: begin, span: end - begin, text: open},
			edit{begin: end, end: end, span: end - begin, closing: true, text: ")"})
	}
	ast.Inspect(src.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.CONST
		case *ast.BinaryExpr:
			if open, between := s.binaryCall(n.Op, at(n.OpPos)); open != "" {
				enclose(n, open)
				replace(n.OpPos, len(n.Op.String()), between)
			}
		case *ast.UnaryExpr:
			if found := at(n.OpPos); n.Op == token.SUB && len(found) > 0 {
				enclose(n, fmt.Sprintf("mutantNeg(%d, ", s.assign(found, "INVERT_NEGATIVES")))
				replace(n.OpPos, len("-"), "")
			}
		case *ast.IncDecStmt:
			if found := at(n.TokPos); len(found) > 0 {
				call := map[token.Token]string{token.INC: "mutantInc", token.DEC: "mutantDec"}[n.Tok]
				x := text[offset(n.X.Pos()):offset(n.X.End())]
				replace(n.TokPos, len("++"), fmt.Sprintf(" = %s(%d, %s)", call, s.assign(found, "INCREMENT_DECREMENT"),
					x))
			}
		}
		return true
	})
	return applyEdits(text, edits)
}

// binaryCall returns the call that replaces a binary operator: the text before the first operand, and the text between
// the operands. Both are "" if the operator has no mutants, or none that a call can make.
func (s *schema) binaryCall(op token.Token, found []mutant) (open, between string) {
	if len(found) == 0 {
		return "", ""
	}
	turned, bound := s.assign(found, "CONDITIONALS_NEGATION"), s.assign(found, "CONDITIONALS_BOUNDARY")
	swapped := s.assign(found, "ARITHMETIC_BASE")
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

// assign numbers the mutant that has the change, and returns its number. It returns -1, which is never live, if no
// mutant has the change.
func (s *schema) assign(found []mutant, change string) int {
	for _, m := range found {
		if m.change == change {
			s.number[m] = len(s.number) + 1
			return s.number[m]
		}
	}
	return -1
}

// edit replaces a file's bytes from begin to end by text.
type edit struct {
	begin, end int
	text       string
	closing    bool // it inserts the end of a call
	span       int  // the length of the expression that the call encloses; 0 for a replacement
}

// applyEdits makes edits that do not overlap. At one place, calls close before others open, the narrowest first; calls
// open from the widest on, before a replacement.
func applyEdits(text []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int {
		switch {
		case a.begin != b.begin:
			return cmp.Compare(a.begin, b.begin)
		case a.closing != b.closing && a.closing:
			return -1
		case a.closing != b.closing:
			return 1
		case a.closing:
			return cmp.Compare(a.span, b.span)
		}
		return cmp.Compare(b.span, a.span)
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
