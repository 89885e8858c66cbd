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
			Shards: []Resharded{{rounding, true}, {roundingSparse, true}}},
		{Name: "kerneldensity-sparse", Kind: density, Params: `{"features":{"scale":"l2"}}`,
			Golden: true, Phases: irisSparse},
		{Name: "density-asked", Kind: density, Params: `{"store_base":false}`, Phases: iris,
			Shards:     []Resharded{{roundingSparse, true}},
			Degenerate: &Learner{Queries: true},
			Memory:     &Large{Input: few, Queries: rows32},
			Matrix: &Clustered{Over: askedDigits, Kill: `{"store_base":false,"bandwidth":10}`,
				Digest:      "e45152f7e9440305274771ad12c36b0d079dfeabbeb29ac8bc56b7bb49e29007",
				Index:       "predictions/index.json",
				IndexDigest: "b2585c364de0e34982f19fe64ec6ef577249e5082e184952ee6db23e0654b58e"}},
		{Name: "density-asked-sparse", Kind: density, Params: `{"store_base":false,"bandwidth":1}`, Phases: irisSparse,
			Shards: []Resharded{{roundingSparse, true}}},
		{Name: "density-texts", Kind: density,
			Params: `{"features":{"hashing":{"bits":4,"signed":false},"scale":"l2"}}`, Phases: Mails,
			Shards: []Resharded{{roundingTexts, true}}},
		{Name: "density-hashed", Kind: density, Params: hashedTexts,
			Hashed: "36b493c74022e46c3c7e3d9f7350ab818f4a11cdc7c4a5d39f74782f3f408ebf"},
		{Name: "density-scaled", Kind: density, Params: `{"features":{"scale":"standard"}}`,
			Shards: []Resharded{{roundingSparse, true}}},
		{Name: "density-narrow", Kind: density, Params: `{"bandwidth":1}`,
			Degenerate: &Learner{Predicts: true, Classifies: true}},
		{Name: "density-digits", Kind: density, Params: `{"bandwidth":10}`,
			Matrix: &Clustered{Over: digits, Kill: `{}`,
				Digest: "1d92efd5c82b5ec035e784c45c6f4b0373c00806d11a723bca923cf99456f9b6"}},
	}
}

func matrices() []Case {
	matrix := "KernelMatrix"
	return []Case{
		{Name: "kernelmatrix", Kind: matrix, Params: `{"kernel":"rbf","gamma":1}`, Golden: true, Phases: iris,
			Shards: []Resharded{{rounding, false}, {roundingSparse, false}}},
		{Name: "kernelmatrix-origin", Kind: matrix, Params: `{"kernel":"rbf","gamma":1}`, Golden: true, Phases: iris},
		{Name: "kernelmatrix-default", Kind: matrix, Params: `{}`, Degenerate: &Learner{}},
		{Name: "kernelmatrix-widest", Kind: matrix, Params: `{"kernel":"polynomial","degree":2}`,
			Memory: &Large{Input: widest}},
		// This job is symmetric; the longer one, of fewer tiles, is not. The model's digest covers that of the index
		// of the tiles.
		{Name: "kernelmatrix-tiles", Kind: matrix, Params: `{"kernel":"rbf","gamma":0.001,"tile":100}`,
			Matrix: &Clustered{Over: bothDigits, Kill: `{"kernel":"sigmoid"}`, Alone: true,
				Digest:      "c526db4760c42418cad1879c622e79ff1023f2b835adafb52a29fc532e260620",
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
			Shards: []Resharded{{rounding, true}, {roundingSparse, true}},
			Memory: &Large{Input: rows32, Fault: "STATE_TOO_BIG"}},
		{Name: "mean-decides", Kind: mean, Params: `{"store_base":false}`,
			Shards: []Resharded{{roundingSparse, true}},
			Memory: &Large{Input: few, Queries: rows32}},
		{Name: "mean-beyond", Kind: mean, Params: `{"store_base":false}`,
			Memory: &Large{Input: rows32, Queries: few, Fault: "STATE_TOO_BIG"}},
		{Name: "mean-wide", Kind: mean, Params: `{"kernel":"rbf","gamma":1}`,
			Degenerate: &Learner{Predicts: true, Classifies: true}},
		{Name: "mean-wide-decides", Kind: mean, Params: `{"kernel":"rbf","gamma":1,"store_base":false}`,
			Degenerate: &Learner{Queries: true}},
		{Name: "mean-digits", Kind: mean, Params: `{"kernel":"rbf","gamma":0.001}`,
			Matrix: &Clustered{Over: digits, Kill: `{"kernel":"polynomial"}`,
				Digest: "0b372bce6b20a4793ae953b13b742bd65dce22cb9963345e3d14cdaee153c69c"}},
		// Its base is not kept: what it decides is in the files.
		{Name: "mean-decides-digits", Kind: mean, Params: `{"store_base":false,"kernel":"rbf","gamma":0.001}`,
			Matrix: &Clustered{Over: askedDigits, Kill: `{"store_base":false}`,
				Digest:      "e569019f56c89865ade372283c8c8a5c049136078234fbeeca1b29707e108f02",
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
		{Name: "kernelperceptron-online", Kind: perceptron,
			Params: `{"kernel":"rbf","gamma":0.5,"shuffle":true,"epochs":2}`, Phases: iris},
		{Name: "kernelperceptron-hashed", Kind: perceptron, Params: hashedTexts,
			Hashed: "1ed31000badf9bdd5dd2d03063b46d58b1dc8d6d6dee88761331dc698861eabb"},
		{Name: "kernelperceptron-shuffled", Kind: perceptron, Params: `{"shuffle":true}`,
			Shards: []Resharded{{roundingSparse, false}}},
		{Name: "kernelperceptron-in-order", Kind: perceptron, Params: `{"shuffle":false}`,
			Shards: []Resharded{{rounding, true}, {roundingSparse, true}}},
		{Name: "kernelperceptron-wide", Kind: perceptron, Params: `{"kernel":"rbf","gamma":1,"shuffle":false}`,
			Degenerate: &Learner{Predicts: true, Classifies: true}},
		{Name: "kernelperceptron-plain", Kind: perceptron,
			Params: `{"kernel":"rbf","gamma":0.01,"form":"plain","budget":200,"epochs":1}`,
			Memory: &Large{Input: table32}},
		{Name: "kernelperceptron-digits", Kind: perceptron, Params: `{"kernel":"rbf","gamma":0.001,"epochs":2}`,
			Matrix: &Clustered{Over: digits, Kill: `{"epochs":1}`,
				Digest: "bcd6e83f5e911633ddb1fe66c407e77d588678c4a32808cd08cce3a0c000f0b0"}},
		{Name: "kernelperceptron-budget", Kind: perceptron,
			Params: `{"kernel":"rbf","gamma":0.001,"form":"averaged","budget":40,"epochs":2}`,
			Matrix: &Clustered{Over: digits, Kill: `{"form":"averaged","budget":40,"epochs":1}`,
				Digest: "8b4c51c06bc9494f1d36ace3236d520534627cee7f465202f42b019510603805"}},
	}
}
