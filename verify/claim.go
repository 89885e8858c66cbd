package verify

import "fmt"

// doubt is the probability with which a claim from a sample may be wrong.
const doubt = 0.01

// maxFalse returns the least k for which a sample of n leaves of all would have met a false one with 99 % probability
// if k were false: with that confidence, fewer than k are. It is hypergeometric, hence exact; it takes k steps.
func maxFalse(all, n int64) int64 {
	if n <= 0 || n > all {
		return 0
	}
	missed := 1.0 // the probability that the sample misses all k
	for k := int64(1); ; k++ {
		if missed *= float64(max(all-n-(k-1), 0)) / float64(all-(k-1)); missed <= doubt {
			return k
		}
	}
}

// conclude decides the verdict and says what follows.
func (v *verifier) conclude() {
	r := v.result
	v.order()
	switch {
	case len(r.False) > 0:
		r.Verdict = False
		r.Says = []string{r.denial()}
		return
	case len(r.Missing) > 0:
		r.Verdict = Incomplete
		r.Says = append(r.Says, "Something is missing. What could be checked matches.")
	default:
		r.Verdict = Verified
		if r.Leaves.Done+r.Merges.Done+r.Steps.Done == 0 {
			r.Verdict, r.Draw, r.Named = DigestsOnly, "", false // it chose nothing
			r.Says = append(r.Says, "Only digests were compared. Nothing was repeated, so a false leaf, merge or step is "+
				"not found; --all repeats them, --sample N and --rounds N some.")
			return
		}
	}
	if v.records == nil {
		r.Says = append(r.Says, "Nothing was repeated.")
		return
	}
	r.Says = append(r.Says, v.claims()...)
}

// denial is what follows where something is false.
func (r *Result) denial() string {
	switch r.FalseKind() {
	case FalseNodes:
		return "The job is not what its proof says: repeating it gives something else."
	case FalseOutputs:
		return "Files beside the model are not what repeating the job gives. The leaves, merges and steps that were " +
			"repeated are what its proof says."
	}
	says := "Files beside the model are not those that the job left, or contradict each other."
	if r.Leaves.Done+r.Merges.Done+r.Steps.Done == 0 {
		says += " So nothing was repeated."
	}
	return says
}

// claims are what follows where nothing is false.
func (v *verifier) claims() (says []string) {
	r := v.result
	r.MaxFalse = maxFalse(r.DrawnOf, r.Drawn)
	switch {
	case r.Leaves.Done == r.Leaves.Of && r.Leaves.Of == 1:
		says = append(says, "The only leaf was repeated: it is not false.")
	case r.Leaves.Done == r.Leaves.Of:
		says = append(says, fmt.Sprintf("All %d leaves were repeated: none is false.", r.Leaves.Of))
	case r.Drawn > 0:
		says = append(says, r.claim())
		if r.Drawn < r.DrawnOf {
			says = append(says, r.chance())
		}
	case r.Leaves.Done > 0:
		says = append(says, fmt.Sprintf("No leaf was drawn. %d of %d were repeated with their whole rounds, and none is "+
			"false.", r.Leaves.Done, r.Leaves.Of))
	default:
		says = append(says, "No leaf was repeated.")
	}
	if r.Unbacked > 0 && r.Leaves.Done < r.Leaves.Of {
		says = append(says, fmt.Sprintf("%d leaves are of rounds whose states were not kept: their digests were "+
			"compared, and they were not drawn from. --all repeats them.", r.Unbacked))
	}
	says = append(says, mergesAndSteps(r.Merges, r.Steps))
	if r.Steps.Done < r.Steps.Of {
		says = append(says, "The metrics of the report follow from all steps, and were not compared; --all compares them.")
	}
	return append(says, told{v}.anew()...)
}

// claim is what follows from the leaves that were drawn. By a draw that a person named, nothing follows if the one who
// trained knew it.
func (r *Result) claim() string {
	if r.Drawn == r.DrawnOf {
		return fmt.Sprintf("All %d leaves of the rounds whose states are known were repeated: none is false.", r.Drawn)
	}
	drawn := fmt.Sprintf("%d of %d leaves were drawn, and none is false", r.Drawn, r.DrawnOf)
	fewer := fmt.Sprintf("with 99 %% confidence fewer than %d are (%.2g %%).", r.MaxFalse,
		100*float64(r.MaxFalse)/float64(r.DrawnOf))
	if r.Named {
		return fmt.Sprintf("%s. The draw was named, not made here. If the one who trained did not know it beforehand, %s "+
			"Else nothing follows.", drawn, fewer)
	}
	return drawn + ": " + fewer
}

// chance tells how likely such a sample finds few false leaves.
func (r *Result) chance() string {
	few, of := "One false leaf in 10,000", int64(10_000)
	if r.DrawnOf < of {
		few, of = "A single false leaf", r.DrawnOf
	}
	return fmt.Sprintf("%s may be missed: such a sample finds it in %s of 100 tries.", few, percent(r.Drawn, of))
}

// mergesAndSteps does not speak of merges where each round has one leaf.
func mergesAndSteps(merges, steps Count) string {
	what, done := "merges and steps", fmt.Sprintf("%d of %d merges and ", merges.Done, merges.Of)
	if merges.Of == 0 {
		what, done = "steps", ""
	}
	if merges.Done == merges.Of && steps.Done == steps.Of {
		return "All " + what + " were repeated: the model follows from the leaves."
	}
	return fmt.Sprintf("%s%d of %d steps were repeated. A false one among the others is not found; --all repeats them, "+
		"--rounds N some.", done, steps.Done, steps.Of)
}

// percent is n of all in percent, as short as it is true.
func percent(n, all int64) string {
	share := 100 * min(float64(n)/float64(all), 1)
	switch {
	case share > 0 && share < 1:
		return "fewer than 1"
	case share > 99 && share < 100:
		return "more than 99"
	}
	return fmt.Sprintf("%.0f", share)
}
