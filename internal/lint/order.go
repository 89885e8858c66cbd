package lint

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// MapOrder forbids depending on the order of a map.
var MapOrder = newAnalyzer("maporder", `forbid ranging over maps

The order differs from run to run. Range over slices.Sorted(maps.Keys(m)); where the
order cannot reach a result, say why in a //lint:ordered comment.`, findMapOrder)

// orderFree take an iterator whose order does not matter.
var orderFree = map[string]bool{
	"slices.Sorted": true, "slices.SortedFunc": true, "slices.SortedStableFunc": true,
	"maps.Collect": true, "maps.Insert": true,
}

func findMapOrder(pass *analysis.Pass, root inspector.Cursor) {
	ex := newExcuses(pass, "ordered")
	const advice = "range over slices.Sorted(maps.Keys(m)), or say in //lint:ordered why the order cannot matter"
	for cur := range root.Preorder((*ast.RangeStmt)(nil), (*ast.CallExpr)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.RangeStmt:
			if isMap(pass.TypesInfo.TypeOf(n.X)) && !ex.cover(n.Pos()) {
				pass.Reportf(n.Pos(), "range over a map: %s", advice)
			}
		case *ast.CallExpr:
			if yieldsMapOrder(pass, n) && !sortedAtOnce(pass, cur) && !ex.cover(n.Pos()) {
				pass.Reportf(n.Pos(), "iterator over a map: %s", advice)
			}
		}
	}
	ex.reportIdle()
}

func yieldsMapOrder(pass *analysis.Pass, call *ast.CallExpr) bool {
	switch qualified(calleeOf(pass.TypesInfo, call)) {
	case "maps.Keys", "maps.Values", "maps.All":
		return true
	}
	return false
}

func sortedAtOnce(pass *analysis.Pass, cur inspector.Cursor) bool {
	outer, ok := cur.Parent().Node().(*ast.CallExpr)
	return ok && orderFree[qualified(calleeOf(pass.TypesInfo, outer))]
}

// TotalOrder demands that a sort's comparator is said to be total.
var TotalOrder = newAnalyzer("totalorder", `demand total orders

Elements that compare equal but differ land in any order: the algorithm may change
between Go releases. Use slices.SortFunc with a comparator that ends in a unique key, and
say which in a "// total order: ..." comment right above the call or on the comparator.`, findSorts)

func findSorts(pass *analysis.Pass, root inspector.Cursor) {
	for cur := range root.Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		switch name := qualified(calleeOf(pass.TypesInfo, call)); name {
		case "sort.Slice", "sort.SliceStable", "sort.Sort", "sort.Stable":
			pass.Reportf(call.Pos(), "%s: use slices.SortFunc with a total order", name)
		case "slices.SortFunc", "slices.SortStableFunc", "slices.SortedFunc", "slices.SortedStableFunc":
			if !saysTotal(pass, call) {
				pass.Reportf(call.Pos(),
					`%s: say in a "// total order: ..." comment above which key makes the order total`, name)
			}
		}
	}
}

func saysTotal(pass *analysis.Pass, call *ast.CallExpr) bool {
	if len(call.Args) == 2 {
		switch id := comparator(call.Args[1]); fn := pass.TypesInfo.Uses[id].(type) {
		case *types.Func:
			switch qualified(fn) {
			case "strings.Compare", "bytes.Compare": // equal means the same bytes
				return true
			}
			if doc := docOf(pass, fn); saysSo(doc) {
				return true
			}
		}
	}
	line := pass.Fset.Position(call.Pos()).Line
	for _, group := range fileOf(pass, call).Comments {
		end := pass.Fset.Position(group.End()).Line
		if (end == line-1 || end == line) && saysSo(group) {
			return true
		}
	}
	return false
}

func comparator(arg ast.Expr) *ast.Ident {
	switch e := ast.Unparen(arg).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	}
	return nil
}

func saysSo(doc *ast.CommentGroup) bool {
	_, reason, ok := strings.Cut(doc.Text(), "total order: ")
	return ok && strings.TrimSpace(reason) != ""
}

// docOf returns the comment of fn where this package declares it.
func docOf(pass *analysis.Pass, fn *types.Func) *ast.CommentGroup {
	for _, file := range pass.Files {
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok && pass.TypesInfo.Defs[d.Name] == fn {
				return d.Doc
			}
		}
	}
	return nil
}

func fileOf(pass *analysis.Pass, n ast.Node) *ast.File {
	for _, file := range pass.Files {
		if file.FileStart <= n.Pos() && n.Pos() < file.FileEnd {
			return file
		}
	}
	return &ast.File{}
}
