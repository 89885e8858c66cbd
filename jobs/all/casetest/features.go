package casetest

// linearFeatures are what records can be made into before they are learned from.
func linearFeatures() []Case {
	linear := linearModel
	return []Case{
		{Name: "linear-texts-tfidf", Kind: linear, Params: `{"solver":"ascend","C":0.1,"features":{"scale":"l2",` +
			`"tfidf":{"sublinear":true},"text":{"analyzer":"char_wb","ngram_min":2,"ngram_max":3}}}`, Golden: true,
			Phases: Mails, Shards: []*Data{roundingTexts}, Blocks: true},
		{Name: "linear-hashed-tfidf", Kind: linear, Params: `{"solver":"ascend","C":0.1,"features":{` +
			`"tfidf":{"idf":"plain"},"hashing":{"bits":6},"text":{"token_pattern":"\\b\\w\\w+\\b"}}}`, Golden: true,
			Phases: Mails, Shards: []*Data{roundingTexts}, Blocks: true},
		{Name: "linear-mapped", Kind: linear, Params: `{"features":{"scale":"maxabs",` +
			`"map":{"degree":2,"products":[[1,1,2]]}}}`, Golden: true, Phases: iris, Shards: []*Data{rounding},
			Blocks: true},
		{Name: "linear-robust", Kind: linear, Params: `{"features":{"scale":"robust"}}`, Golden: true, Phases: iris,
			Shards: []*Data{rounding}, Blocks: true},
		{Name: "linear-categories", Kind: linear, Params: `{"solver":"ascend","max_rounds":20,` +
			`"features":{"scale":"l2","categories":{"sparse":true,"unseen":"zeros"}}}`, Golden: true,
			Phases: irisColors, Shards: []*Data{roundingColors}, Blocks: true},
		{Name: "linear-categories-hashed", Kind: linear, Params: `{"features":{"scale":"standard",` +
			`"categories":{"bits":3}}}`, Golden: true, Phases: irisColors, Shards: []*Data{roundingColors},
			Blocks: true},
		{Name: "linear-digits-categories", Kind: linear, Params: `{"solver":"ascend","blocks":5,"max_rounds":4,` +
			`"features":{"categories":{"sparse":true}}}`,
			Matrix: &Clustered{Over: sortedDigits,
				Digest: "b81cac43c8aa56d05d9e15792db83712ee07a81fd2149c640e5503b6527f6c06"}},
		{Name: "linear-digits-groups", Kind: linear, Params: `{"mode":"regress","loss":"squared","blocks":5,"max_rounds":4}`,
			Matrix: &Clustered{Over: groupedDigits, More: `"evaluation":{"bootstrap":20},`,
				Digest: "e7952af23045c037c7437c14a5abe9bfb56330c123ead23817667e8a8a5600fd"}},
		{Name: "linear-missing", Kind: linear, Params: `{"features":{"scale":"standard","missing":"indicator"}}`,
			Phases: irisGaps},
	}
}
