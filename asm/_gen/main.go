// Command _gen writes the assembly of package asm, one text for every vector width.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("amd64,!purego")
	for _, s := range isas {
		addRows(s, true)
		addRows(s, false)
	}
	Generate()
}
