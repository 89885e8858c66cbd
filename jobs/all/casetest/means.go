package casetest

func means() []Case {
	mean := "NearestMean"
	return []Case{
		{Name: "nearest-mean", Kind: mean, Params: `{}`,
			Shards:     []*Data{rounding, roundingSparse},
			Degenerate: &Learner{Predicts: true, Classifies: true},
			Memory:     &Large{Input: table32}},
		{Name: "nearestmean", Kind: mean, Params: `{"features":{"scale":"standard"}}`, Golden: true, Phases: iris,
			Matrix: &Clustered{Over: digits, Kill: `{}`,
				Digest: "ff1443a032cd14f8e7d0fbfc13115856928858b2eef0b1cf5c62dfb6438fb6a2"}},
		{Name: "nearestmean-sparse", Kind: mean, Params: `{}`, Golden: true, Phases: irisSparse,
			Memory: &Large{Input: sparse}},
		{Name: "nearestmean-rejects", Kind: mean, Params: `{"reject_below":0.5}`, Golden: true, Phases: iris},
		{Name: "nearestmean-hashed", Kind: mean, Params: hashedTexts,
			Hashed: "faa29554d6359ff0825ba663d192d5f8c9353f7eb6626e568c3625b5945482fe"},
	}
}
