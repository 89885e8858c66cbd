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
		{Name: "machine-regress", Kind: machine, Params: `{"mode":"regress","features":{"scale":"standard"}}`,
			Golden: true, Phases: irisNumbers},
		{Name: "machine-digits-regress", Kind: machine,
			Params: `{"mode":"regress","epsilon":0.5,"working_set":64,"features":{"scale":"standard"}}`,
			Matrix: &Clustered{Over: digits, Kill: `{"mode":"regress","working_set":16,"max_rounds":4}`,
				Digest: "2a92e8df6e120e4061a5ddb4bd5cd60832a657e8f7c5dfef595a61febe9ea768"}},
		{Name: "machine-digits", Kind: machine, Params: `{"working_set":64,"features":{"scale":"standard"}}`,
			Matrix: &Clustered{Over: digits, Kill: `{"working_set":16,"max_rounds":4}`,
				Digest: "6cc401fadf38dd0536428ee48a1d4929b1f4061132e6cc8163b9eb949c738acf"}},
	}
}
