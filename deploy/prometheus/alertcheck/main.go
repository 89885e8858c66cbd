// Command alertcheck reads files of Prometheus rules as Prometheus does: with its own parser of
// expressions and its own rules about fields. It prints what is wrong and ends with 1.
package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: alertcheck FILE...")
		os.Exit(2)
	}
	wrong := false
	for _, file := range os.Args[1:] {
		groups, problems := rulefmt.ParseFile(file, false, model.UTF8Validation, parser.NewParser(parser.Options{}),
			slog.Default())
		for _, p := range problems {
			wrong = true
			fmt.Fprintln(os.Stderr, p)
		}
		if len(problems) == 0 {
			rules := 0
			for _, g := range groups.Groups {
				rules += len(g.Rules)
			}
			fmt.Printf("%s: %d rules\n", file, rules)
		}
	}
	if wrong {
		os.Exit(1)
	}
}
