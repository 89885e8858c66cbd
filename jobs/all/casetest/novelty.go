package casetest

// novelties are the cases of detectors of novel records.
func novelties() []Case {
	detector, machine := "NoveltyDetector", "SupportVectorMachine"
	return []Case{
		{Name: "novelty", Kind: detector, Params: `{"k":3,"novelty":{"false_alarms":0.2}}`, Golden: true, Phases: iris,
			Degenerate: &Learner{}},
		{Name: "novelty-neighbors", Kind: detector, Params: `{"k":3,"novelty":{"validation":0}}`,
			Shards: []*Data{rounding, roundingSparse}},
		{Name: "novelty-density", Kind: detector,
			Params: `{"detector":"kernel_density","novelty":{"validation":0},"features":{"scale":"standard"}}`,
			Golden: true, Phases: irisSparse, Shards: []*Data{rounding, roundingSparse}},
		{Name: "novelty-texts", Kind: detector, Params: `{"k":2,"novelty":{"validation":0}}`, Golden: true,
			Phases: Mails, Shards: []*Data{roundingTexts}},
		{Name: "novelty-stored", Kind: detector, Params: `{}`, Memory: &Large{Input: points, Fault: "STATE_TOO_BIG"}},
		{Name: "novelty-digits", Kind: detector, Params: `{"novelty":{"labels":["3","8"]}}`,
			Matrix: &Clustered{Over: digits, Kill: `{"detector":"kernel_density"}`,
				Digest: "972c405c52e0b9881dbe9867bc18d4911991246b3c7ff50aea531e336fa9e2ef"}},
		{Name: "novelty-digits-density", Kind: detector,
			Params: `{"detector":"kernel_density","novelty":{"labels":["3"]}}`,
			Matrix: &Clustered{Over: digits, Kill: `{"k":1}`,
				Digest: "54ebfe55c44f9905818127aaf4746d8f7529d03a5c3ff141a67452c0dc9f4f67"}},
		{Name: "machine-one-class", Kind: machine,
			Params: `{"mode":"one_class","nu":0.2,"features":{"scale":"standard"}}`,
			Golden: true, Phases: iris, Shards: []*Data{rounding}},
		{Name: "machine-one-class-texts", Kind: machine,
			Params: `{"mode":"one_class","nu":0.5,"kernel":"linear","novelty":{"false_alarms":0.5}}`,
			Golden: true, Phases: Mails},
		{Name: "machine-digits-one-class", Kind: machine,
			Params: `{"mode":"one_class","nu":0.1,"working_set":64,"novelty":{"labels":["3"]},"features":{"scale":"standard"}}`,
			Matrix: &Clustered{Over: digits, Kill: `{"mode":"one_class","working_set":16,"max_rounds":4}`,
				Digest: "a27f413225442cc1c4a11fa486a6fded839a09efcf0e1fc177b12f0f3a7818d1"}},
	}
}
