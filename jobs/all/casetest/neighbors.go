package casetest

func neighbors() []Case {
	neighbors := "NearestNeighbors"
	return []Case{
		{Name: "neighbors", Kind: neighbors, Params: `{"mode":"classify","store_base":true,"k":3}`,
			Golden: true, Phases: iris},
		{Name: "neighbors-cosine", Kind: neighbors,
			Params: `{"mode":"classify","store_base":true,"k":3,"metric":"cosine","weights":"distance"}`,
			Golden: true, Phases: irisSparse},
		{Name: "neighbors-edit", Kind: neighbors,
			Params: `{"mode":"classify","store_base":true,"k":1,"metric":"edit"}`, Golden: true, Phases: Mails},
		{Name: "neighbors-regress", Kind: neighbors, Params: `{"store_base":true,"k":2,"mode":"regress"}`,
			Golden: true, Phases: irisNumbers},
		{Name: "neighbors-asked", Kind: neighbors, Params: `{"store_base":false,"mode":"classify","k":3}`,
			Phases: iris},
		{Name: "neighbors-radius", Kind: neighbors, Params: `{"store_base":false,"mode":"search","radius":2}`,
			Phases: iris},
		{Name: "neighbors-counts", Kind: neighbors,
			Params: `{"store_base":false,"mode":"search","radius":2,"counts":true}`, Phases: iris},
		{Name: "neighbors-projected", Kind: neighbors,
			Params: `{"store_base":false,"mode":"classify","k":3,"projection":{"dims":3}}`, Phases: irisSparse},
		{Name: "neighbors-left-out", Kind: neighbors,
			Params: `{"store_base":false,"mode":"classify","k":3,"leave_one_out":true}`, Phases: irisAlone},
		{Name: "neighbors-kept", Kind: neighbors, Params: `{"store_base":true}`,
			Shards: []*Data{rounding, roundingSparse}},
		{Name: "neighbors-scaled", Kind: neighbors, Params: `{"store_base":true,"features":{"scale":"standard"}}`,
			Shards: []*Data{roundingSparse}},
		{Name: "neighbors-texts", Kind: neighbors, Params: `{"store_base":true,"metric":"edit"}`,
			Shards: []*Data{roundingTexts}},
		{Name: "neighbors-search", Kind: neighbors, Params: `{"k":3}`, Degenerate: &Learner{Queries: true},
			Memory: &Large{Input: wide, Queries: fewer}},
		{Name: "neighbors-classify", Kind: neighbors,
			Params:     `{"k":3,"mode":"classify","metric":"cosine","store_base":true}`,
			Degenerate: &Learner{Queries: true, Predicts: true}},
		{Name: "neighbors-leave-one-out", Kind: neighbors, Params: `{"k":3,"metric":"l1"}`, Degenerate: &Learner{}},
		{Name: "neighbors-stored", Kind: neighbors, Params: `{"store_base":true,"leave_one_out":false}`,
			Memory: &Large{Input: points, Fault: "STATE_TOO_BIG"}},
	}
}

// hashed are searches with hash tables.
func hashed() []Case {
	neighbors := "NearestNeighbors"
	return []Case{
		{Name: "neighbors-hashed", Kind: neighbors, Golden: true, Phases: iris,
			Params: `{"mode":"classify","store_base":true,"k":3,"index":"lsh"}`},
		{Name: "neighbors-hashed-cosine", Kind: neighbors, Golden: true, Phases: irisSparse,
			Params: `{"mode":"classify","store_base":true,"k":3,"metric":"cosine","index":"lsh",
				"lsh":{"tables":4,"hashes":3}}`},
		{Name: "neighbors-hashed-kept", Kind: neighbors, Params: `{"store_base":true,"index":"lsh"}`,
			Shards: []*Data{rounding, roundingSparse}},
		{Name: "neighbors-hashed-search", Kind: neighbors, Params: `{"k":3,"index":"lsh","metric":"l1"}`,
			Degenerate: &Learner{Queries: true}},
		{Name: "neighbors-digits-hashed", Kind: neighbors,
			Params: `{"k":3,"mode":"classify","index":"lsh","lists":"csv","store_base":true}`,
			Matrix: &Clustered{Over: askedDigits,
				Digest:      "ea09ea3bc41e7e4571bdee9e88fac9aca35b12614bd47df68788dec76b345f7e",
				Index:       "neighbors/index.json",
				IndexDigest: "957e9e5cbfa63656b4a4d9586a1784becc263e4d643f9a98e0caa64bf787596b"}},
	}
}

// graphs are of kind NeighborGraph.
func graphs() []Case {
	graph := "NeighborGraph"
	return []Case{
		{Name: "graph", Kind: graph, Params: `{"k":4,"features":{"scale":"standard"}}`, Golden: true, Phases: irisAlone,
			Shards: []*Data{rounding, roundingSparse},
			Without: map[*Suite]string{
				Memory: "its search is that of NearestNeighbors, whose case has as many queries and a base as large"}},
		{Name: "graph-asked", Kind: graph, Params: `{"k":2,"metric":"minkowski","p":3}`, Phases: iris},
		{Name: "graph-texts", Kind: graph, Params: `{"k":3,"metric":"edit"}`, Shards: []*Data{roundingTexts}},
		{Name: "graph-least", Kind: graph, Params: `{"k":2}`, Degenerate: &Learner{}},
		{Name: "graph-digits", Kind: graph, Params: `{"k":5}`,
			Matrix: &Clustered{Over: digits, Kill: `{"k":3,"metric":"l1"}`,
				Digest:      "04181046fb3a1ff1ec4e3cd9191166e22f689388a0e9ec0db0c455d96968ac7b",
				Index:       "distances/index.json",
				IndexDigest: "4b04f391933affd6be8b123403b5311ed57ecbbeab4029f3d0a6eb329f0e8249"}},
	}
}

// moreNeighbors are searches by other metrics, and those of the matrix.
func moreNeighbors() []Case {
	neighbors := "NearestNeighbors"
	return []Case{
		{Name: "neighbors-minkowski", Kind: neighbors, Golden: true, Phases: iris,
			Params: `{"mode":"classify","store_base":true,"k":3,"metric":"minkowski","p":1.5}`},
		{Name: "neighbors-jaccard", Kind: neighbors, Golden: true, Phases: Mails,
			Params: `{"mode":"classify","store_base":true,"k":3,"metric":"jaccard"}`},
		{Name: "neighbors-haversine", Kind: neighbors, Golden: true, Phases: irisPlaces,
			Params: `{"mode":"classify","store_base":true,"k":3,"metric":"haversine"}`},
		{Name: "neighbors-precomputed", Kind: neighbors, Phases: irisApart,
			Params: `{"mode":"classify","k":3,"metric":"precomputed"}`},
		{Name: "neighbors-digits", Kind: neighbors, Params: `{"k":3,"mode":"classify","lists":"csv"}`,
			Matrix: &Clustered{Over: askedDigits, Kill: `{"k":1}`,
				Digest:      "e43adf51afd9ea35b1fdd859b67ca2f9c640cd4168e7f0229cea088ddd02a57c",
				Index:       "neighbors/index.json",
				IndexDigest: "99b67d4cf159ff6b43b8dbc3308a4974c04056ff9eb9fc67bb53241cfa89ab40"}},
		{Name: "neighbors-digits-minkowski", Kind: neighbors,
			Params: `{"k":3,"mode":"classify","metric":"minkowski","p":2.5,"lists":"npy","store_base":true}`,
			Matrix: &Clustered{Over: askedDigits,
				Digest:      "b0ff44dcd9b1655f120761a492e83ec3d688c8dfff6e0c3a412711798d103f21",
				Index:       "indices/index.json",
				IndexDigest: "d59f8567be21a7079a5741e9c32cd6018b41987ff978131f670ce88509c9bf80"}},
		{Name: "neighbors-digits-similarity", Kind: neighbors,
			Params: `{"k":5,"mode":"classify","metric":"similarity","lists":"csv"}`,
			Matrix: &Clustered{Over: digitDistances,
				Digest:      "eca2db75534f021ccc4c498c8f43fa19a48327751bfdaf020287c7203efedd10",
				Index:       "neighbors/index.json",
				IndexDigest: "e9d7bca7fd707bc10eba3f4c93fe16ab230f21af9bdd1a26eb8af84f7d038765"}},
		{Name: "neighbors-glosses-cosine", Kind: neighbors, Params: `{"k":4,"metric":"cosine"}`,
			Matrix: &Clustered{Over: someGlosses,
				Digest:      "2c742036449edd5de9bdc4659f777ac52983bf2432e6807c045b4ddba116561a",
				Index:       "neighbors/index.json",
				IndexDigest: "6bd4eaa6bd51db98b80510a1861b4e9d363fd560f9a0105054e52fa06a3f0c3c"}},
		{Name: "neighbors-glosses-jaccard", Kind: neighbors, Params: `{"radius":0.8,"metric":"jaccard"}`,
			Matrix: &Clustered{Over: someGlosses,
				Digest:      "de069955ff2955044bd7117e790181670a856a972f228751ebcfbc171b27c14d",
				Index:       "neighbors/index.json",
				IndexDigest: "7407bb79648a2fac199b0b23132843201a3ea3a217f225140bbd3edc48c4cfef"}},
	}
}
