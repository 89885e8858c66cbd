package casetest

func perceptrons() []Case {
	perceptron := "Perceptron"
	return []Case{
		{Name: "perceptron", Kind: perceptron, Params: `{"features":{"scale":"standard"}}`, Golden: true, Phases: iris},
		{Name: "perceptron-hashed", Kind: perceptron, Params: `{"features":{"hashing":{"bits":6,"signed":true}}}`,
			Golden: true, Phases: Mails},
		{Name: "perceptron-sparse", Kind: perceptron,
			Params: `{"classes":"one_vs_rest","over":"mixed","shuffle":false}`, Golden: true, Phases: irisSparse},
		{Name: "perceptron-texts", Kind: perceptron, Params: `{"form":"plain","distinct":0.5}`,
			Golden: true, Phases: Mails},
		{Name: "perceptron-voted", Kind: perceptron, Params: `{"form":"voted"}`, Golden: true, Phases: iris},
		// Mixed weights of shards of one class each are no rule to hold to an answer.
		{Name: "perceptron-mixed", Kind: perceptron, Params: `{"shuffle":false,"over":"mixed"}`, Phases: irisSparse,
			Shards:     []Resharded{{roundingSparse, false}},
			Degenerate: &Learner{Predicts: true}},
		{Name: "perceptron-shuffled", Kind: perceptron, Params: `{"shuffle":true}`, Phases: irisSparse},
		{Name: "perceptron-hashed-pairs", Kind: perceptron, Params: hashedTexts,
			Hashed: "f01b54ba56362f0f0efbe6024750c65c1773b5560bceb76b03a522496d6be295"},
		{Name: "perceptron-default", Kind: perceptron, Params: `{}`, Shards: []Resharded{{roundingSparse, false}}},
		{Name: "perceptron-in-order", Kind: perceptron, Params: `{"shuffle":false}`,
			Shards:     []Resharded{{rounding, true}, {roundingSparse, true}, {roundingTexts, true}},
			Degenerate: &Learner{Predicts: true, Classifies: true}},
		{Name: "perceptron-hashed-in-order", Kind: perceptron,
			Params: `{"shuffle":false,"features":{"hashing":{"bits":4,"signed":true}}}`,
			Shards: []Resharded{{roundingTexts, true}}},
		{Name: "perceptron-once", Kind: perceptron, Params: `{"epochs":1}`, Memory: &Large{Input: table32}},
		{Name: "perceptron-voted-once", Kind: perceptron, Params: `{"epochs":1,"form":"voted"}`,
			Memory: &Large{Input: sparse}},
		{Name: "perceptron-mixed-twice", Kind: perceptron, Params: `{"epochs":2,"over":"mixed"}`,
			Memory: &Large{Input: sparse}},
		{Name: "perceptron-documents", Kind: perceptron,
			Params: `{"epochs":1,"over":"mixed","features":{"text":{"max_features":5000}}}`,
			Memory: &Large{Input: documents}},
		{Name: "perceptron-chained", Kind: perceptron, Params: `{"epochs":3}`,
			Matrix: &Clustered{Over: digits, Kill: `{"epochs":1}`,
				Digest: "c0cc56e7dd1b17ddcffc0f613489d5936601dd280a7e821eed7d6fb7da733288"}},
		{Name: "perceptron-mixed-digits", Kind: perceptron,
			Params: `{"epochs":3,"over":"mixed","mixing":"mistakes"}`,
			Matrix: &Clustered{Over: digits, Kill: `{"epochs":2,"over":"mixed"}`,
				Digest: "560d9146f951256de314010271a3973b12f0db5c00690f84e5e073e38970c28c"}},
	}
}
