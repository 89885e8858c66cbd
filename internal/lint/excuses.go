package lint

import (
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// excuse is one //lint:NAME REASON comment.
type excuse struct {
	pos    token.Pos
	reason string
	used   bool
}

// excuses finds the //lint:NAME comments of a package by the lines they cover.
type excuses struct {
	pass *analysis.Pass
	name string
	at   map[string]map[int]*excuse // file, line
	all  []*excuse
}

func newExcuses(pass *analysis.Pass, name string) *excuses {
	ex := &excuses{pass: pass, name: name, at: map[string]map[int]*excuse{}}
	for _, file := range pass.Files {
		for _, group := range file.Comments {
			last := pass.Fset.Position(group.End()).Line
			for _, c := range group.List {
				reason, ok := strings.CutPrefix(c.Text, "//lint:"+name)
				if ok && (reason == "" || reason[0] == ' ') {
					reason, _, _ = strings.Cut(reason, "//")
					ex.add(&excuse{pos: c.Pos(), reason: strings.TrimSpace(reason)}, last+1)
				}
			}
		}
	}
	return ex
}

// add lets e cover the lines from its own to last.
func (ex *excuses) add(e *excuse, last int) {
	ex.all = append(ex.all, e)
	pos := ex.pass.Fset.Position(e.pos)
	lines := ex.at[pos.Filename]
	if lines == nil {
		lines = map[int]*excuse{}
		ex.at[pos.Filename] = lines
	}
	for line := pos.Line; line <= last; line++ {
		lines[line] = e
	}
}

// cover reports whether a comment excuses pos, and notes that it was needed.
func (ex *excuses) cover(pos token.Pos) bool {
	p := ex.pass.Fset.Position(pos)
	e := ex.at[p.Filename][p.Line]
	if e == nil {
		return false
	}
	e.used = true
	return true
}

// reportIdle reports the comments that give no reason or excuse nothing.
func (ex *excuses) reportIdle() {
	for _, e := range ex.all {
		switch {
		case e.reason == "":
			ex.pass.Reportf(e.pos, "//lint:%s gives no reason", ex.name)
		case !e.used:
			ex.pass.Reportf(e.pos, "//lint:%s excuses nothing: remove it", ex.name)
		}
	}
}
