package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/cmd/gram/internal/files"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/report"
	"github.com/gram-compute/gram/verify"
)

// checked is a check of a job, and of the signatures beside its model.
type checked struct {
	*verify.Result
	Signatures []attestation.Finding `json:"signatures"`
}

// checkedView is what -o json prints of a check.
type checkedView struct {
	SchemaVersion int `json:"schema_version"`
	checked
}

// showChecked prints a check, as JSON or for people, and writes its page where one is asked for.
func showChecked(a *app, r checked, page string) error {
	if page != "" {
		data, err := report.CheckHTML(checkPage(r))
		if err != nil {
			return err
		}
		write := func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		}
		if page == "-" {
			return write(a.out)
		}
		if err := files.Write(a.within(page), write); err != nil {
			return err
		}
	}
	if a.flags.output == "json" {
		return a.printJSON(checkedView{show.SchemaVersion, r})
	}
	printChecked(a, r)
	return nil
}

func printChecked(a *app, r checked) {
	var out strings.Builder
	var t terminal.Table
	for _, f := range jobFacts(r) {
		t.Row(f[0], f[1])
	}
	t.Write(&out)
	printSignatures(&out, r.Signatures)
	if counts := checkCounts(r); counts != nil {
		var c terminal.Table
		c.Row(append([]string{""}, upper(counts.Columns[1:])...)...)
		for _, row := range counts.Rows {
			c.Row(row...)
		}
		fmt.Fprintln(&out)
		c.Write(&out)
	}
	for _, list := range checkFindings(r) {
		fmt.Fprintf(&out, "\n%s\n", list.Title)
		for _, item := range list.Items {
			writeWrapped(&out, "  ", item)
		}
	}
	palette := a.palette(a.out)
	verdict := palette.Good(string(r.Verdict))
	switch r.Verdict {
	case verify.Verified:
	case verify.DigestsOnly:
		verdict = string(r.Verdict)
	default:
		verdict = palette.Bad(string(r.Verdict))
	}
	fmt.Fprintf(&out, "\n%s\n", verdict)
	for _, says := range r.Says {
		writeWrapped(&out, "  ", says)
	}
	fmt.Fprint(a.out, strings.TrimLeft(out.String(), "\n")) // there may be no facts
}

// printSignatures prints a table of its own: the names of the files leave no room for the digests of the facts.
func printSignatures(out io.Writer, found []attestation.Finding) {
	if len(found) == 0 {
		return
	}
	var t terminal.Table
	for _, line := range signatureLines(found) {
		t.Row(line[0], line[1])
	}
	var rows strings.Builder
	t.Write(&rows)
	fmt.Fprint(out, "\n", terminal.Wrap(rows.String(), textColumns))
}

func upper(words []string) (all []string) {
	for _, w := range words {
		all = append(all, strings.ToUpper(w))
	}
	return all
}

// textColumns is how wide sentences are.
const textColumns = 80

// writeWrapped writes a sentence in lines of at most textColumns, where its words allow that.
func writeWrapped(w io.Writer, indent, text string) {
	line := ""
	for _, word := range strings.Fields(terminal.Clean(text)) {
		if line != "" && len([]rune(indent+line+" "+word)) > textColumns {
			fmt.Fprintln(w, indent+line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, indent+line)
}

// jobFacts tell which job was checked, and how. What could not be read is left out, and so is the time where only the
// signatures were checked.
func jobFacts(r checked) [][2]string {
	var facts [][2]string
	if r.Job != "" {
		facts = append(facts, [2]string{"job", strings.TrimSuffix(fmt.Sprintf("%s (%s)", r.Job, r.Kind), " ()")})
	}
	if r.Model != (proof.Digest{}) {
		facts = append(facts, [2]string{"model", r.Model.String()})
	}
	if r.Kept != "" { // the manifest was read
		facts = append(facts, [2]string{"root", r.Root.String()}, [2]string{"kept", r.Kept})
	}
	if r.Kernels != "" {
		facts = append(facts, [2]string{"kernels", r.Kernels})
	}
	switch {
	case r.Named:
		facts = append(facts, [2]string{"draw", r.Draw + "  (named by --draw)"})
	case r.Draw != "":
		facts = append(facts, [2]string{"draw", r.Draw + "  (--draw repeats it)"})
	}
	if r.Seconds > 0 {
		facts = append(facts, [2]string{"took", fmt.Sprintf("%.1f s", r.Seconds)})
	}
	return facts
}

// checkCounts tell what was repeated, and what was compared by digest only; nil if no file was looked at.
func checkCounts(r checked) *jobs.FigureTable {
	if r.Files.Of == 0 {
		return nil
	}
	table := &jobs.FigureTable{Columns: []string{"of the job", "all", "repeated", "by digest only"}}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, row := range []struct {
		name  string
		count verify.Count
	}{{"leaves", r.Leaves}, {"merges", r.Merges}, {"steps", r.Steps}, {"whole rounds", r.Rounds}} {
		table.Rows = append(table.Rows, []string{row.name, number(row.count.Of), number(row.count.Done),
			number(row.count.Of - row.count.Done)})
	}
	table.Rows = append(table.Rows, []string{"files", number(r.Files.Of), "", number(r.Files.Done)})
	return table
}

// checkFindings are what is false, and what is missing.
func checkFindings(r checked) (lists []report.CheckList) {
	add := func(title string, findings []verify.Finding) {
		list := report.CheckList{Title: title}
		for _, f := range findings {
			list.Items = append(list.Items, f.Says)
		}
		if len(list.Items) > 0 {
			lists = append(lists, list)
		}
	}
	add("What is false", r.False)
	add("What is missing", r.Missing)
	if r.More > 0 {
		last := &lists[len(lists)-1]
		last.Items = append(last.Items, fmt.Sprintf("And %d more.", r.More))
	}
	return lists
}

func checkPage(r checked) report.CheckPage {
	return report.CheckPage{Job: r.Job, Kind: r.Kind, Verdict: string(r.Verdict), Says: r.Says,
		Facts: append(jobFacts(r), signatureLines(r.Signatures)...), Counts: checkCounts(r), Findings: checkFindings(r)}
}
