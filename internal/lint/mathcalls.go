package lint

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// MathCalls allows of package math only what IEEE 754 defines to the bit.
var MathCalls = newAnalyzer("mathcalls", `allow only the exactly defined functions of package math

Log, Exp, Pow, Cos and the like are approximations whose last bits differ between
architectures, GOAMD64 levels and CPUs. Use kernelops/fmath. The functions allowed
here are exact or correctly rounded, so every correct implementation agrees.`, findMathCalls)

// exactMath: exact or correctly rounded, NaN payloads aside.
var exactMath = map[string]bool{
	"Abs": true, "Ceil": true, "Copysign": true, "FMA": true, "Float32bits": true,
	"Float32frombits": true, "Float64bits": true, "Float64frombits": true, "Floor": true,
	"Frexp": true, "Inf": true, "IsInf": true, "IsNaN": true, "Ldexp": true, "Max": true,
	"Min": true, "Modf": true, "NaN": true, "Nextafter": true, "Nextafter32": true,
	"Round": true, "RoundToEven": true, "Signbit": true, "Sqrt": true, "Trunc": true,
}

func findMathCalls(pass *analysis.Pass, root inspector.Cursor) {
	for cur := range root.Preorder((*ast.Ident)(nil)) {
		id := cur.Node().(*ast.Ident)
		fn, ok := pass.TypesInfo.Uses[id].(*types.Func)
		if !ok || fn.Pkg() == nil {
			continue
		}
		switch path := fn.Pkg().Path(); {
		case path == "math/cmplx", path == "math" && !exactMath[fn.Name()]:
			pass.Reportf(id.Pos(), "%s.%s has other bits on other builds: use kernelops/fmath", path, fn.Name())
		}
	}
}
