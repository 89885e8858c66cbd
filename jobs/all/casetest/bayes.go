package casetest

func bayes() []Case {
	gaussian, words := "GaussianNaiveBayes", "NaiveBayes"
	return []Case{
		{Name: "gaussian", Kind: gaussian, Params: `{}`,
			Shards:     []Resharded{{rounding, false}},
			Degenerate: &Learner{Predicts: true, Classifies: true},
			Memory:     &Large{Input: table32}},
		{Name: "gaussiannb", Kind: gaussian, Params: `{"features":{"scale":"minmax"}}`, Golden: true, Phases: iris},
		{Name: "gaussiannb-costs", Kind: gaussian, Params: `{"costs":{"1":{"2":5}}}`, Golden: true, Phases: iris},

		{Name: "naivebayes", Kind: words, Params: `{}`, Golden: true, Phases: Mails,
			Shards: []Resharded{{roundingTexts, true}},
			Memory: &Large{Input: documents},
			Without: map[*Suite]string{
				Degenerate: "reads texts, not vectors: TestOneClass and TestUnseenLabels have jobs of their own",
			}},
		{Name: "naivebayes-grows", Kind: words, Params: `{"grows":true}`, Golden: true, Phases: Mails},
		{Name: "naivebayes-bernoulli", Kind: words, Params: `{"form":"bernoulli","prior":"uniform"}`,
			Golden: true, Phases: Mails},
		{Name: "naivebayes-complement", Kind: words, Params: `{"form":"complement","text":{"ngram_max":2}}`,
			Golden: true, Phases: Mails},
		{Name: "naivebayes-costs", Kind: words,
			Params: `{"costs":{"ham":{"spam":9}},"text":{"stop_words":["the","a"]}}`,
			Golden: true, Phases: Mails},
	}
}
