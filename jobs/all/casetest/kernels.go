package casetest

import "slices"

// hashedTexts are the parameters of texts that are hashed into few columns.
const hashedTexts = `{"features":{"hashing":{"bits":5,"signed":true},"scale":"l2","text":{"ngram_max":2}}}`

func kernels() []Case {
	return slices.Concat(densities(), matrices(), kernelMeans(), kernelPerceptrons())
}

func densities() []Case {
	density := "KernelDensityBayes"
	return []Case{
		{Name: "kerneldensity", Kind: density, Params: `{}`, Golden: true, Phases: iris,
			Shards: []*Data{rounding, roundingSparse}},
		{Name: "kerneldensity-sparse", Kind: density, Params: `{"features":{"scale":"l2"}}`,
			Golden: true, Phases: irisSparse},
		{Name: "density-asked", Kind: density, Params: `{"store_base":false}`, Phases: iris,
			Shards:     []*Data{roundingSparse},
			Degenerate: &Learner{Queries: true},
			Memory:     &Large{Input: few, Queries: rows32},
			Matrix: &Clustered{Over: askedDigits, Kill: `{"store_base":false,"bandwidth":10}`,
				Digest:      "78cfc5babaf5409d6853fcb2495502ec52d23de89eed19a706e4590e4e1dbb7d",
				Index:       "predictions/index.json",
				IndexDigest: "b2585c364de0e34982f19fe64ec6ef577249e5082e184952ee6db23e0654b58e"}},
		{Name: "density-asked-sparse", Kind: density, Params: `{"store_base":false,"bandwidth":1}`, Phases: irisSparse,
			Shards: []*Data{roundingSparse}},
		{Name: "density-texts", Kind: density,
			Params: `{"features":{"hashing":{"bits":4,"signed":false},"scale":"l2"}}`, Phases: Mails,
			Shards: []*Data{roundingTexts}},
		{Name: "density-hashed", Kind: density, Params: hashedTexts,
			Hashed: "36b493c74022e46c3c7e3d9f7350ab818f4a11cdc7c4a5d39f74782f3f408ebf"},
		{Name: "density-scaled", Kind: density, Params: `{"features":{"scale":"standard"}}`,
			Shards: []*Data{roundingSparse}},
		{Name: "density-narrow", Kind: density, Params: `{"bandwidth":1}`,
			Degenerate: &Learner{Predicts: true, Classifies: true}},
		{Name: "density-omit", Kind: density, Params: `{"features":{"missing":"omit","scale":"standard"}}`,
			Phases: irisGaps, Shards: []*Data{roundingFewGaps},
			Matrix: &Clustered{Over: gappyDigits, Kill: `{"features":{"missing":"omit"}}`,
				Digest: "3f5a735a7e8ff3646cb93d81d6fe9153cbc562e242440e966883b06926223f19"}},
		{Name: "density-digits", Kind: density, Params: `{"bandwidth":10}`,
			Matrix: &Clustered{Over: digits, Kill: `{}`,
				Digest: "b8f9783e81135184419d433ca64a1f98fce6e5f12f88b58305e9bf39c5eed6ed"}},
	}
}

func matrices() []Case {
	matrix := "KernelMatrix"
	return []Case{
		{Name: "kernelmatrix", Kind: matrix, Params: `{"kernel":"rbf","gamma":1}`, Golden: true, Phases: iris,
			Shards: []*Data{rounding, roundingSparse}, Blocks: true},
		{Name: "kernelmatrix-origin", Kind: matrix, Params: `{"kernel":"rbf","gamma":1}`, Golden: true, Phases: iris},
		{Name: "kernelmatrix-blocks", Kind: matrix, Params: `{"kernel":"rbf","gamma":1,"block_records":8}`,
			Golden: true, Phases: iris},
		{Name: "kernelmatrix-default", Kind: matrix, Params: `{}`, Degenerate: &Learner{}},
		{Name: "kernelmatrix-widest", Kind: matrix, Params: `{"kernel":"polynomial","degree":2}`,
			Memory: &Large{Input: widest}},
		// This job is symmetric; the longer one, of fewer tiles, is not. The model's digest covers that of the index
		// of the tiles.
		{Name: "kernelmatrix-tiles", Kind: matrix, Params: `{"kernel":"rbf","gamma":0.001,"tile":100,"block_records":150}`,
			Matrix: &Clustered{Over: bothDigits, Kill: `{"kernel":"sigmoid","block_records":256}`, Alone: true,
				Digest:      "4c8678a1008816c365d82df586a307b375e87e6357f8f0207a1e0c41016931f8",
				Index:       "records/index.json",
				IndexDigest: "81aa480bc7c022a0e837cfdc4bdcbc1aab4634d908e1f4d013ff6df95c140d74"}},
	}
}

func kernelMeans() []Case {
	mean := "KernelNearestMean"
	return []Case{
		{Name: "kernelmean", Kind: mean, Params: `{"kernel":"rbf","gamma":0.5}`, Golden: true, Phases: iris},
		{Name: "kernelmean-origin", Kind: mean, Params: `{"kernel":"rbf","gamma":0.5}`, Golden: true, Phases: iris},
		{Name: "mean-asked", Kind: mean, Params: `{"store_base":false,"kernel":"rbf","gamma":0.5}`, Phases: iris},
		{Name: "mean-hashed", Kind: mean, Params: hashedTexts,
			Hashed: "dab4bb8f217db4193b4e8044f93ac10a23a683e9a922f5191fb34b804266b19e"},
		{Name: "mean-stored", Kind: mean, Params: `{}`,
			Shards: []*Data{rounding, roundingSparse},
			Memory: &Large{Input: rows32, Fault: "STATE_TOO_BIG"}},
		{Name: "mean-decides", Kind: mean, Params: `{"store_base":false}`,
			Shards: []*Data{roundingSparse},
			Memory: &Large{Input: few, Queries: rows32}},
		{Name: "mean-beyond", Kind: mean, Params: `{"store_base":false}`,
			Memory: &Large{Input: rows32, Queries: few, Fault: "STATE_TOO_BIG"}},
		{Name: "mean-wide", Kind: mean, Params: `{"kernel":"rbf","gamma":1}`,
			Degenerate: &Learner{Predicts: true, Classifies: true}},
		{Name: "mean-wide-decides", Kind: mean, Params: `{"kernel":"rbf","gamma":1,"store_base":false}`,
			Degenerate: &Learner{Queries: true}},
		{Name: "mean-digits", Kind: mean, Params: `{"kernel":"rbf","gamma":0.001}`,
			Matrix: &Clustered{Over: digits, Kill: `{"kernel":"polynomial"}`,
				Digest: "c8bed29e1198b3212671ee7e82edd38bcf3f6fe01a8095b8b4700e41b8ffe950"}},
		// Its base is not kept: what it decides is in the files.
		{Name: "mean-decides-digits", Kind: mean, Params: `{"store_base":false,"kernel":"rbf","gamma":0.001}`,
			Matrix: &Clustered{Over: askedDigits, Kill: `{"store_base":false}`,
				Digest:      "f0e409cfb7d8a5e467bca2b449c40ece654749f2cd49a7c3be874bd0fb9c7eb9",
				Index:       "predictions/index.json",
				IndexDigest: "238e4f32d4bd7a4866c2c82b37b924312a8d3688ebbc8ddad2dc9d83126571a3"}},
	}
}

func kernelPerceptrons() []Case {
	perceptron := "KernelPerceptron"
	return []Case{
		{Name: "kernelperceptron", Kind: perceptron, Params: `{"kernel":"polynomial","degree":2}`,
			Golden: true, Phases: iris},
		{Name: "kernelperceptron-origin", Kind: perceptron, Params: `{"form":"plain","kernel":"rbf","gamma":0.5}`,
			Golden: true, Phases: iris},
		{Name: "kernelperceptron-sparse", Kind: perceptron,
			Params: `{"form":"voted","kernel":"rbf","gamma":0.5,"budget":8}`, Golden: true, Phases: irisSparse},
		{Name: "kernelperceptron-voted", Kind: perceptron,
			Params: `{"form":"voted","kernel":"rbf","gamma":0.5,"budget":8}`, Golden: true, Phases: irisSparse},
		{Name: "kernelperceptron-blocks", Kind: perceptron,
			Params: `{"form":"voted","kernel":"rbf","gamma":0.5,"budget":8,"block_records":8}`,
			Golden: true, Phases: iris},
		{Name: "kernelperceptron-online", Kind: perceptron,
			Params: `{"kernel":"rbf","gamma":0.5,"shuffle":true,"epochs":2}`, Phases: iris},
		{Name: "kernelperceptron-hashed", Kind: perceptron, Params: hashedTexts,
			Hashed: "3127015bf1ba0dae48a712843aa90924d949982b95ef56d08c17a4f3bd044f02"},
		{Name: "kernelperceptron-shuffled", Kind: perceptron, Params: `{"shuffle":true}`,
			Shards: []*Data{roundingSparse}, Blocks: true},
		{Name: "kernelperceptron-in-order", Kind: perceptron, Params: `{"shuffle":false}`,
			Shards: []*Data{rounding, roundingSparse}},
		{Name: "kernelperceptron-wide", Kind: perceptron, Params: `{"kernel":"rbf","gamma":1,"shuffle":false}`,
			Degenerate: &Learner{Predicts: true, Classifies: true}},
		{Name: "kernelperceptron-plain", Kind: perceptron,
			Params: `{"kernel":"rbf","gamma":0.01,"form":"plain","budget":200,"epochs":1}`,
			Memory: &Large{Input: table32}},
		{Name: "kernelperceptron-digits", Kind: perceptron, Params: `{"kernel":"rbf","gamma":0.001,"epochs":2,"block_records":100}`,
			Matrix: &Clustered{Over: digits, Kill: `{"epochs":1,"block_records":500}`,
				Digest: "d890a92f8a87922015771658467b9162a7ee7214db99cefae9ac1b5122b387bf"}},
		{Name: "kernelperceptron-budget", Kind: perceptron,
			Params: `{"kernel":"rbf","gamma":0.001,"form":"averaged","budget":40,"epochs":2,"block_records":100}`,
			Matrix: &Clustered{Over: digits, Kill: `{"form":"averaged","budget":40,"epochs":1,"block_records":500}`,
				Digest: "eac76553f5cb5b097a1ee14f8585949aa78d2add20efec946fbf3b6e3e50da60"}},
	}
}
