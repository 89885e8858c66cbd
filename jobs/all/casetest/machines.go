package casetest

func machines() []Case {
	machine := "SupportVectorMachine"
	return []Case{
		{Name: "machine", Kind: machine, Params: `{"features":{"scale":"standard"}}`, Golden: true, Phases: iris,
			Shards:     []*Data{rounding},
			Degenerate: &Learner{Predicts: true, Classifies: true}},
		{Name: "machine-large", Kind: machine, Params: `{"working_set":64,"max_rounds":4,"blocks":64}`,
			Memory: &Large{Input: table32}},
		{Name: "machine-polynomial", Kind: machine, Params: `{"kernel":"polynomial","C":0.5,"features":{"scale":"l2"}}`,
			Golden: true, Phases: irisSparse, Shards: []*Data{roundingSparse}},
		{Name: "machine-linear", Kind: machine, Params: `{"kernel":"linear","tol":1e-6,"working_set":8}`, Golden: true,
			Phases: iris},
		{Name: "machine-texts", Kind: machine, Params: `{"kernel":"sigmoid","features":{"hashing":{"bits":6}}}`,
			Golden: true, Phases: Mails, Shards: []*Data{roundingTexts}},
		{Name: "machine-digits", Kind: machine, Params: `{"working_set":64,"features":{"scale":"standard"}}`,
			Matrix: &Clustered{Over: digits, Kill: `{"working_set":16,"max_rounds":4}`,
				Digest: "0c9e7557241db51ab474845c9170c684d0f8f65fe1db2917991c7657ab81aa2d"}},
	}
}
