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
		{Name: "machine-margin", Kind: machine,
			Params: `{"margin":true,"support_vectors":true,"C":100,"features":{"scale":"standard"}}`,
			Golden: true, Phases: iris},
		{Name: "machine-probability", Kind: machine,
			Params: `{"probability":true,"features":{"scale":"standard"}}`, Golden: true, Phases: iris},
		{Name: "machine-texts", Kind: machine, Params: `{"kernel":"sigmoid","features":{"hashing":{"bits":6}}}`,
			Golden: true, Phases: Mails, Shards: []*Data{roundingTexts}},
		{Name: "machine-regress", Kind: machine, Params: `{"mode":"regress","features":{"scale":"standard"}}`,
			Golden: true, Phases: irisNumbers},
		{Name: "machine-digits-regress", Kind: machine,
			Params: `{"mode":"regress","epsilon":0.5,"working_set":64,"features":{"scale":"standard"}}`,
			Matrix: &Clustered{Over: digits, Kill: `{"mode":"regress","working_set":16,"max_rounds":4}`,
				Digest: "f8f084bc096822ee2fe30c3a247f5c2385c4dbc217377ed42a866ee00f96b8af"}},
		{Name: "machine-digits-margin", Kind: machine,
			Params: `{"margin":true,"support_vectors":true,"working_set":64,"features":{"scale":"standard"}}`,
			Matrix: &Clustered{Over: digits,
				Kill:        `{"margin":true,"support_vectors":true,"working_set":16,"max_rounds":4}`,
				Digest:      "c397e0d466ace93b35462bff166d4301188c1accb4395201c3f84bba00288dd2",
				Index:       "support/index.json",
				IndexDigest: "894ecf43d1ad29237ffba7578b3d8683ed94e26b3c77620558d3bb4354904213"}},
		{Name: "machine-digits", Kind: machine, Params: `{"working_set":64,"features":{"scale":"standard"}}`,
			Matrix: &Clustered{Over: digits, Kill: `{"working_set":16,"max_rounds":4}`,
				Digest: "759d2c992d03e822180ca53a94acd48077b6a411747b5534796b348d6d364327"}},
	}
}
