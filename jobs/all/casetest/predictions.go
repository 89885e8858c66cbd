package casetest

func predictions() []Case {
	predict := "Predict"
	return []Case{
		{Name: "predict", Kind: predict, Params: `{}`, Golden: true, Phases: iris,
			Without: map[*Suite]string{
				Shards:     "trains no model: it hands on the one that it began from",
				Degenerate: "begins from a model: TestPredictionsOfBadRecords runs it after every learner that predicts",
			}},
		{Name: "predict-glosses", Kind: predict, Params: `{}`,
			Matrix: &Clustered{Over: newGlosses,
				Digest:      "1b9b46e1294a239b2b7f85aab591d2c07cf1ad4bdc0d52a0b537adaa2cf163b8",
				Index:       "predictions/index.json",
				IndexDigest: "d8cc5cd84efcd7bed53307b7a1dd6a89ee88787c0a2c6a3a35edc6d2c0350ba6"}},
		{Name: "predict-scores", Kind: predict, Params: `{"scores":true}`, Phases: iris},
		{Name: "predict-kmeans", Kind: predict, Params: `{"scores":true}`,
			Memory: &Large{Input: points, Model: "kmeans-points"}},
		{Name: "predict-gaussian", Kind: predict, Params: `{"scores":true,"format":"jsonl"}`,
			Memory: &Large{Input: table32, Model: "gaussian"}},
		{Name: "predict-naive-bayes", Kind: predict, Params: `{}`,
			Memory: &Large{Input: documents, Model: "naivebayes"}},
		{Name: "predict-perceptron", Kind: predict, Params: `{"scores":true}`,
			Memory: &Large{Input: sparse, Model: "perceptron-mixed-twice"}},
		{Name: "predict-kernel-perceptron", Kind: predict, Params: `{"format":"npy"}`,
			Memory: &Large{Input: table32, Model: "kernelperceptron-plain"}},
	}
}
