// Command _gen writes the assembly of package asm, one text for every vector width. The flag
// -family says which file of it.
package main

import (
	"flag"
	"log"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"

	"github.com/gram-compute/gram/asm/_gen/vex"
)

// families holds the generator of each file asm/NAME_amd64.s.
var families = map[string]func(){
	"rows":     addRowOperations,
	"vector":   addVectors,
	"reduce":   addReductions,
	"hamming":  addHammings,
	"multiply": addMultiplications,
	"pack":     addPacking,
	"epilogue": addEpilogues,
	"select":   addSelections,
	"nearest":  addNearest,
	"screen":   addScreen,
	"parts":    addAllParts,
	"sparse":   addSparse,
	"mixed":    addMixed,
	"products": addProducts,
	"bytes":    addBytes,
	"assign":   addAssign,
	"decimals": addDecimals,
}

func main() {
	family := flag.String("family", "", "which `file` to write, such as rows")
	flag.Parse()
	add, ok := families[*family]
	if !ok {
		log.Fatalf("no family %q", *family)
	}
	ConstraintExpr("amd64,!purego")
	add()
	pass.Compile = pass.Concat(pass.Compile, pass.FunctionPass(vex.Encode))
	Generate()
}

func addRowOperations() {
	for _, s := range isas {
		addRows(s, true)
		addRows(s, false)
	}
}
