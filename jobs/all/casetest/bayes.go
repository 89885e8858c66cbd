package casetest

func bayes() []Case {
	gaussian, words := "GaussianNaiveBayes", "NaiveBayes"
	return []Case{
		{Name: "gaussian", Kind: gaussian, Params: `{}`,
			Shards:     []*Data{rounding},
			Degenerate: &Learner{Predicts: true, Classifies: true},
			Memory:     &Large{Input: table32},
			Matrix: &Clustered{Over: digits, Kill: `{}`,
				Digest: "f002b0048f12cde0a37b258438ee8fa97629e0d134bfbc82add68e5b726fce38"}},
		{Name: "gaussiannb", Kind: gaussian, Params: `{"features":{"scale":"minmax"}}`, Golden: true, Phases: iris},
		{Name: "gaussiannb-categories", Kind: gaussian, Params: `{"features":{"categories":{"unseen":"zeros"}}}`,
			Golden: true, Phases: irisColors, Shards: []*Data{roundingColors}},
		{Name: "gaussiannb-omit", Kind: gaussian, Params: `{"features":{"missing":"omit","scale":"standard"}}`,
			Phases: irisGaps, Shards: []*Data{roundingGaps}},
		{Name: "gaussiannb-gaps", Kind: gaussian, Params: `{"features":{"missing":"omit"}}`,
			Matrix: &Clustered{Over: gappedDigits,
				Digest: "1914021b0ea744c47b2b6762888580a07004155b8c8000540c20c6604ebd2e3b"}},
		{Name: "gaussiannb-folds", Kind: gaussian, Params: `{}`,
			Matrix: &Clustered{Over: dealtDigits, More: `"evaluation":{},`,
				Digest: "f002b0048f12cde0a37b258438ee8fa97629e0d134bfbc82add68e5b726fce38"}},
		{Name: "gaussiannb-costs", Kind: gaussian, Params: `{"costs":{"1":{"2":5}}}`, Golden: true, Phases: iris},
		{Name: "gaussiannb-prior", Kind: gaussian, Params: `{"prior":{"0":0.5,"1":0.3,"2":0.2}}`, Golden: true,
			Phases: iris},

		{Name: "naivebayes", Kind: words, Params: `{}`, Golden: true, Phases: Mails,
			Shards: []*Data{roundingTexts},
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
		{Name: "naivebayes-glosses", Kind: words, Params: `{"alpha":0.1,"text":{"ngram_max":2,"min_df":2}}`,
			Matrix: &Clustered{Over: someGlosses, Kill: `{"alpha":0.1}`,
				Digest: "826fb8cdbceed75976383cf841caf9f58431cc279d5fdf86d2d1b0c9018f6e63"}},
		// Terms are left out at the end, not before a job counts on.
		{Name: "naivebayes-grown", Kind: words, Params: `{"alpha":0.1,"text":{"min_df":2}}`,
			Matrix: &Clustered{Over: moreGlosses,
				Digest: "4d93177c411cfd71b67cc05d84f16f2f549e9482fc4f2688da8ec9f9a6b807b6"}},
	}
}
