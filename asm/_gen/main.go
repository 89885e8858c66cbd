// Command _gen writes the assembly of package asm, one text for every vector width. The flag
// -family says which file of it.
package main

import (
	"flag"
	"log"

	. "github.com/mmcloughlin/avo/build"
)

// families holds the generator of each file asm/NAME_amd64.s, called once per instruction set.
var families = map[string]func(isa){
	"rows": func(s isa) {
		addRows(s, true)
		addRows(s, false)
	},
}

func main() {
	family := flag.String("family", "", "which `file` to write, such as rows")
	flag.Parse()
	generate, ok := families[*family]
	if !ok {
		log.Fatalf("no family %q", *family)
	}
	ConstraintExpr("amd64,!purego")
	for _, s := range isas {
		generate(s)
	}
	Generate()
}
