package lint

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// FloatToInt forbids converting a float to an integer of unknown range.
var FloatToInt = newAnalyzer("floattoint", `demand a reason for every float-to-integer conversion

Where the value does not fit, Go leaves the result to the implementation: amd64 and
arm64 differ. Check the range, NaN included, and say so in a //lint:checked comment.`, findFloatToInt)

func findFloatToInt(pass *analysis.Pass, root inspector.Cursor) {
	ex := newExcuses(pass, "checked")
	for cur := range root.Preorder((*ast.CallExpr)(nil)) {
		call := cur.Node().(*ast.CallExpr)
		if !isFloatToInt(pass.TypesInfo, call) || ex.cover(call.Pos()) {
			continue
		}
		pass.Reportf(call.Pos(),
			"float converted to an integer: check the range first and say why it fits in //lint:checked")
	}
	ex.reportIdle()
}

func isFloatToInt(info *types.Info, call *ast.CallExpr) bool {
	to := info.Types[call.Fun]
	return to.IsType() && len(call.Args) == 1 &&
		anyBasic(to.Type, types.IsInteger) && isVariable(info, call.Args[0], types.IsFloat)
}
