package lint

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// Products forbids a float product that the compiler may fuse with an addition.
var Products = newAnalyzer("products", `demand that float products are rounded at once

Go may compute x*y+z with one rounding, and does so at GOAMD64=v3 and on arm64, not
at v1. It fuses across statements, stores and inlined calls: t := x*y; return t+z is
fused as well. Only an explicit conversion stops it, so every product is written
float64(x*y) or float32(x*y), except where it is at once a factor, a dividend, a
divisor, compared, or passed to math.Sqrt or a rounding function. x *= y cannot be
rounded: write x = float64(x*y).`, findProducts)

func findProducts(pass *analysis.Pass, root inspector.Cursor) {
	for cur := range root.Preorder((*ast.BinaryExpr)(nil), (*ast.AssignStmt)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.BinaryExpr:
			if n.Op == token.MUL && isVariable(pass.TypesInfo, n, inexact) && !roundedAtOnce(pass, cur) {
				pass.Reportf(n.OpPos, "float product may be fused with an addition: round it at once, as in %s(x*y)",
					typeName(pass, n))
			}
		case *ast.AssignStmt:
			if n.Tok == token.MUL_ASSIGN && isVariable(pass.TypesInfo, n.Lhs[0], inexact) {
				pass.Reportf(n.TokPos, "float product may be fused with an addition: write x = %s(x*y)",
					typeName(pass, n.Lhs[0]))
			}
		}
	}
}

func typeName(pass *analysis.Pass, e ast.Expr) string {
	name := pass.TypesInfo.TypeOf(e).String()
	return name[strings.LastIndexByte(name, '.')+1:]
}

// roundedAtOnce reports whether the product at cur goes nowhere but into an operation that cannot be fused with it.
func roundedAtOnce(pass *analysis.Pass, cur inspector.Cursor) bool {
	parent := cur.Parent()
	for {
		switch n := parent.Node().(type) {
		case *ast.ParenExpr:
		case *ast.UnaryExpr:
			if n.Op != token.SUB && n.Op != token.ADD {
				return false
			}
		case *ast.CallExpr:
			return takesWhole(pass, n)
		case *ast.BinaryExpr:
			return unfusable[n.Op]
		default:
			return false
		}
		parent = parent.Parent()
	}
}

var unfusable = map[token.Token]bool{
	token.MUL: true, token.QUO: true,
	token.EQL: true, token.NEQ: true, token.LSS: true, token.LEQ: true, token.GTR: true, token.GEQ: true,
}

// takesWhole reports whether call is a conversion or a function that reads its argument rounded.
func takesWhole(pass *analysis.Pass, call *ast.CallExpr) bool {
	if pass.TypesInfo.Types[call.Fun].IsType() {
		return true
	}
	switch qualified(calleeOf(pass.TypesInfo, call)) {
	case "math.Sqrt", "math.Floor", "math.Ceil", "math.Trunc", "math.Round", "math.RoundToEven", "math.IsNaN",
		"math.IsInf":
		return true
	}
	return false
}
