package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// Sources forbids reading what differs between runs: clocks and random sources.
var Sources = newAnalyzer("sources", `forbid clocks and random sources

A result may depend on input bytes, spec and seed only, a decision on its arguments
only. Randomness is kernelops/philox, keyed by the seed; time is an argument.`, findSources)

var variableImports = map[string]bool{
	"math/rand": true, "math/rand/v2": true, "crypto/rand": true, "hash/maphash": true,
	"github.com/google/uuid": true,
}

// clockFuncs of package time read or wait for the clock, or read the machine's zone.
var clockFuncs = map[string]bool{
	"time.Now": true, "time.Since": true, "time.Until": true, "time.After": true, "time.AfterFunc": true,
	"time.Tick": true, "time.NewTimer": true, "time.NewTicker": true, "time.Sleep": true, "time.LoadLocation": true,
}

func findSources(pass *analysis.Pass, root inspector.Cursor) {
	for cur := range root.Preorder((*ast.ImportSpec)(nil), (*ast.Ident)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.ImportSpec:
			if path := importPath(n); variableImports[path] {
				pass.Reportf(n.Pos(), "import of %s: results may depend on the seed only, through kernelops/philox",
					path)
			}
		case *ast.Ident:
			reportClock(pass, n)
		}
	}
}

func reportClock(pass *analysis.Pass, id *ast.Ident) {
	switch obj := pass.TypesInfo.Uses[id].(type) {
	case *types.Func:
		if name := qualified(obj); clockFuncs[name] {
			pass.Reportf(id.Pos(), "%s reads the clock: take the time as an argument", name)
		}
	case *types.Var:
		if obj.Pkg() != nil && obj.Pkg().Path() == "time" && obj.Name() == "Local" {
			pass.Reportf(id.Pos(), "time.Local is the machine's zone: take it as an argument")
		}
	}
}

// importPath returns the path of spec without quotes; the parser has checked the quoting.
func importPath(spec *ast.ImportSpec) string {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return path
}

// Pure forbids what a function of its arguments has no use for.
var Pure = newAnalyzer("pure", `forbid I/O, concurrency and shared state in decisions

Every replica applies the same commands and must reach the same state; a simulation
replays them. So there are no files, sockets, logs, goroutines, channels or locks here,
and no package variable is written.`, findImpure)

var impureImports = map[string]bool{
	"context": true, "io/ioutil": true, "log": true, "log/slog": true, "net": true, "net/http": true,
	"os": true, "os/exec": true, "os/signal": true, "os/user": true, "path/filepath": true,
	"runtime": true, "runtime/debug": true, "sync": true, "sync/atomic": true, "syscall": true, "unsafe": true,
}

func findImpure(pass *analysis.Pass, root inspector.Cursor) {
	for cur := range root.Preorder() {
		switch n := cur.Node().(type) {
		case *ast.ImportSpec:
			if path := importPath(n); impureImports[path] {
				pass.Reportf(n.Pos(), "import of %s in a package of pure functions", path)
			}
		case *ast.GoStmt:
			pass.Reportf(n.Pos(), "goroutine in a package of pure functions")
		case *ast.ChanType:
			pass.Reportf(n.Pos(), "channel in a package of pure functions")
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, lhs := range n.Lhs {
					reportGlobalWrite(pass, lhs)
				}
			}
		case *ast.IncDecStmt:
			reportGlobalWrite(pass, n.X)
		}
	}
}

// reportGlobalWrite reports an assignment that reaches a package variable.
func reportGlobalWrite(pass *analysis.Pass, lhs ast.Expr) {
	for {
		switch e := lhs.(type) {
		case *ast.ParenExpr:
			lhs = e.X
		case *ast.IndexExpr:
			lhs = e.X
		case *ast.StarExpr:
			lhs = e.X
		case *ast.UnaryExpr:
			lhs = e.X
		case *ast.SelectorExpr:
			if v, ok := pass.TypesInfo.Uses[e.Sel].(*types.Var); ok && !v.IsField() {
				lhs = e.Sel
				continue
			}
			lhs = e.X
		case *ast.Ident:
			if v, ok := pass.TypesInfo.Uses[e].(*types.Var); ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
				pass.Reportf(e.Pos(), "write to package variable %s: state is an argument", e.Name)
			}
			return
		default:
			return
		}
	}
}

// NoFloats forbids floats altogether.
var NoFloats = newAnalyzer("nofloats", `forbid floats in replicated state

No float enters the log or the state, so replicas on different CPUs cannot drift.`, findFloats)

func findFloats(pass *analysis.Pass, root inspector.Cursor) {
	for cur := range root.Preorder((*ast.Ident)(nil), (*ast.BasicLit)(nil), (*ast.CallExpr)(nil)) {
		var t types.Type
		switch n := cur.Node().(type) {
		case *ast.Ident:
			if obj := pass.TypesInfo.ObjectOf(n); obj != nil {
				t = obj.Type()
			}
		case ast.Expr:
			t = pass.TypesInfo.TypeOf(n)
		}
		if t != nil && anyBasic(t, inexact) {
			pass.Reportf(cur.Node().Pos(),
				"float in replicated state: use an integer, or a string that is not computed with")
		}
	}
}
