package lint

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Numeric lists what holds in packages whose results must not depend on the build.
func Numeric() []*analysis.Analyzer {
	return []*analysis.Analyzer{Products, MathCalls, FloatToInt, MapOrder, TotalOrder, Sources}
}

// Decisions lists what holds in packages that decide and do nothing else.
func Decisions() []*analysis.Analyzer {
	return []*analysis.Analyzer{Pure, MapOrder, Sources}
}

// newAnalyzer makes an analyzer that walks the syntax tree with run.
func newAnalyzer(name, doc string, run func(*analysis.Pass, inspector.Cursor)) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:     name,
		Doc:      doc,
		Requires: []*analysis.Analyzer{inspect.Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			run(pass, pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root())
			return nil, nil
		},
	}
}

// calleeOf returns the function or method that call names; nil for conversions,
// built-ins and calls of function values.
func calleeOf(info *types.Info, call *ast.CallExpr) *types.Func {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) { // an instantiation such as slices.SortFunc[T]
	case *ast.IndexExpr:
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	switch f := fun.(type) {
	case *ast.Ident:
		fn, _ := info.Uses[f].(*types.Func)
		return fn
	case *ast.SelectorExpr:
		fn, _ := info.Uses[f.Sel].(*types.Func)
		return fn
	}
	return nil
}

// qualified names a package-level function as "path.Name"; "" for methods and nil.
func qualified(fn *types.Func) string {
	if fn == nil || fn.Pkg() == nil || fn.Signature().Recv() != nil {
		return ""
	}
	return fn.Pkg().Path() + "." + fn.Name()
}

// someType reports whether is holds for t's underlying type, or for one in a type parameter's set.
func someType(t types.Type, is func(types.Type) bool) bool {
	if _, ok := types.Unalias(t).(*types.TypeParam); !ok {
		return is(t.Underlying())
	}
	return constraintHas(t.Underlying().(*types.Interface), is)
}

func constraintHas(constraint *types.Interface, is func(types.Type) bool) bool {
	for embedded := range constraint.EmbeddedTypes() {
		if union, ok := embedded.(*types.Union); ok {
			for term := range union.Terms() {
				if elementHas(term.Type(), is) {
					return true
				}
			}
		} else if elementHas(embedded, is) {
			return true
		}
	}
	return false
}

func elementHas(element types.Type, is func(types.Type) bool) bool {
	if i, ok := element.Underlying().(*types.Interface); ok {
		return constraintHas(i, is)
	}
	return is(element.Underlying())
}

// anyBasic reports whether t is, or may be, a basic type with one of the flags.
func anyBasic(t types.Type, flags types.BasicInfo) bool {
	return someType(t, func(under types.Type) bool {
		b, ok := under.(*types.Basic)
		return ok && b.Info()&flags != 0
	})
}

func isMap(t types.Type) bool {
	return someType(t, func(under types.Type) bool {
		_, ok := under.(*types.Map)
		return ok
	})
}

const inexact = types.IsFloat | types.IsComplex

// isVariable reports whether e is computed at run time and has one of the flags.
func isVariable(info *types.Info, e ast.Expr, flags types.BasicInfo) bool {
	tv, ok := info.Types[e]
	return ok && tv.Value == nil && tv.Type != nil && anyBasic(tv.Type, flags)
}
