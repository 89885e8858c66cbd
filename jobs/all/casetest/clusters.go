package casetest

func clusters() []Case {
	kmeans := "KMeans"
	return []Case{
		{Name: "kmeans", Kind: kmeans, Params: `{"k":3,"scale":"standard"}`, Golden: true, Phases: iris},
		{Name: "kmeans-spherical", Kind: kmeans, Params: `{"k":2,"metric":"cosine"}`,
			Golden: true, Phases: irisSparse, Degenerate: &Learner{Predicts: true}},
		{Name: "kmeans-farthest", Kind: kmeans, Params: `{"k":3,"init":"farthest","empty":"farthest"}`, Phases: iris},
		{Name: "kmeans-random", Kind: kmeans, Params: `{"k":3,"init":"random","restarts":2}`, Phases: irisSparse},
		{Name: "kmeans-restarts", Kind: kmeans,
			Params: `{"k":3,"restarts":2,"init":"kmeans++","silhouette_sample":9,"assignments":true}`, Phases: iris},
		{Name: "kmeans-hashed", Kind: kmeans,
			Params: `{"k":2,"hashing":{"bits":5,"signed":true},"scale":"l2"}`,
			Hashed: "c803262783a4cf8ed0b09c9348c4a4ffaf9f6cd67ee5b563b4e7d5a602fb06ff"},
		{Name: "kmeans-three", Kind: kmeans, Params: `{"k":3}`, Named: "centers are drawn by the names of files",
			Shards: []*Data{rounding, roundingSparse}},
		{Name: "kmeans-two", Kind: kmeans, Params: `{"k":2}`, Degenerate: &Learner{Predicts: true}},
		{Name: "kmeans-points", Kind: kmeans, Params: `{"k":16,"max_rounds":3,"init":"random","assignments":true}`,
			Memory: &Large{Input: points}},
		{Name: "kmeans-scaled", Kind: kmeans,
			Params: `{"k":3,"max_rounds":3,"scale":"standard","silhouette_sample":500}`,
			Memory: &Large{Input: table32}},
		{Name: "kmeans-sparse", Kind: kmeans, Params: `{"k":4,"max_rounds":2,"metric":"cosine","init":"random"}`,
			Memory: &Large{Input: sparse}},
		{Name: "kmeans-digits", Kind: kmeans, Params: `{"k":10,"max_rounds":8,"assignments":true}`,
			Matrix: &Clustered{Over: digits, Kill: `{"k":3,"max_rounds":2,"init":"random","assignments":true}`,
				Digest:      "f9d5d0f72c1c065fa7d5b638c5e60d77294fd10e50479383ebec2ce39806b43c",
				Index:       "assignments/index.json",
				IndexDigest: "7ff2af56fafe86fe714770e2d7350666601a68c61ed5dd7c4a328c8f3d4633e3"}},
	}
}

// clusterings are jobs of the algorithms of KMeans other than Lloyd's.
func clusterings() []Case {
	const kmeans, drawn = "KMeans", "centers are drawn by the names of files"
	return []Case{
		{Name: "kmeans-soft", Kind: kmeans, Golden: true, Phases: iris,
			Params: `{"k":3,"algorithm":"soft","stiffness":2,"max_rounds":20,"scale":"standard","indices":true}`},
		{Name: "kmeans-minibatch", Kind: kmeans, Golden: true, Phases: iris,
			Params: `{"k":3,"algorithm":"minibatch","batch_size":10,"max_rounds":40}`},
		{Name: "kmeans-soft-outputs", Kind: kmeans, Phases: irisSparse,
			Params: `{"k":3,"algorithm":"soft","stiffness":9,"restarts":2,"metric":"cosine","responsibilities":true,` +
				`"distances":true,"max_rounds":4}`},
		{Name: "kmeans-soft-three", Kind: kmeans, Params: `{"k":3,"algorithm":"soft","stiffness":0.1,"max_rounds":5}`,
			Named: drawn, Shards: []*Data{rounding, roundingSparse}},
		{Name: "kmeans-minibatch-three", Kind: kmeans,
			Params: `{"k":3,"algorithm":"minibatch","batch_size":9,"max_rounds":35}`,
			Named:  drawn, Shards: []*Data{rounding, roundingSparse}},
		{Name: "kmeans-digits-minibatch", Kind: kmeans,
			Params: `{"k":10,"algorithm":"minibatch","batch_size":50,"max_rounds":40,"distances":true,"format":"npy"}`,
			Matrix: &Clustered{Over: digits,
				Kill:        `{"k":3,"algorithm":"minibatch","max_rounds":35,"init":"random","distances":true}`,
				Digest:      "57ad4a2f35db539dac9745a6e1586146ab1528d7619cbf958ec1320859bdb78c",
				Index:       "distances/index.json",
				IndexDigest: "f0cbd24476794877fd56e4f0af14defe7658b28067aedad3447afc25de80f227"}},
		{Name: "kmeans-digits-soft", Kind: kmeans,
			Params: `{"k":10,"algorithm":"soft","stiffness":0.004,"max_rounds":6,"responsibilities":true,` +
				`"indices":true}`,
			Matrix: &Clustered{Over: digits,
				Kill: `{"k":3,"algorithm":"soft","stiffness":0.004,"max_rounds":2,"init":"random",` +
					`"responsibilities":true}`,
				Digest:      "100979682aaa7b3d484022530fe1e5677506975263930b15d155c4545c412311",
				Index:       "responsibilities/index.json",
				IndexDigest: "79146a2633e79e78eba499be7508ac1e5ecc9246ed98cbcf1e4b19d48d184b32"}},
		{Name: "kmeans-bisecting", Kind: kmeans, Golden: true, Phases: iris,
			Params: `{"k":4,"algorithm":"bisecting","scale":"standard","indices":true}`},
		{Name: "kmeans-bisecting-cosine", Kind: kmeans, Phases: irisSparse,
			Params: `{"k":3,"algorithm":"bisecting","metric":"cosine","split":"size","assignments":true}`},
		{Name: "kmeans-bisecting-three", Kind: kmeans, Params: `{"k":3,"algorithm":"bisecting"}`,
			Named: drawn, Shards: []*Data{rounding, roundingSparse}},
		{Name: "kmeans-digits-bisecting", Kind: kmeans,
			Params: `{"k":7,"algorithm":"bisecting","assignments":true}`,
			Matrix: &Clustered{Over: digits,
				Kill:        `{"k":3,"algorithm":"bisecting","max_rounds":3,"assignments":true}`,
				Digest:      "d01dcf31369a2c434265f925004e9899ecacb0b33b68470b4444603d54b7aed1",
				Index:       "assignments/index.json",
				IndexDigest: "ab83c5249f4107c397caffd0b76764569b5eff279575a76a0bf84f110863341c"}},
	}
}
