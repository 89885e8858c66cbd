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
				Digest:      "6af7eb797a515804b6407dc5b6d1336e89b16438df3323217689ca7849f468d1",
				Index:       "predictions/index.json",
				IndexDigest: "a6edbc5342b7f797fd9f3bf6f2a74b2dfb6e1acf5240ee791efa9e4c9b5c6cb7"}},
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
