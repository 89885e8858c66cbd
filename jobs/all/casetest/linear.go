package casetest

import "slices"

const linearModel = "LinearModel"

func linear() []Case { return slices.Concat(linearModels(), linearFeatures(), linearDigits()) }

func linearModels() []Case {
	linear := linearModel
	return []Case{
		{Name: "linear", Kind: linear, Params: `{"features":{"scale":"standard"}}`, Golden: true, Phases: iris,
			Shards: []*Data{rounding}, Blocks: true,
			Degenerate: &Learner{Predicts: true, Classifies: true},
		},
		{Name: "linear-squared", Kind: linear, Params: `{"loss":"squared_hinge","features":{"scale":"l2"}}`,
			Golden: true, Phases: irisSparse, Shards: []*Data{roundingSparse}, Blocks: true},
		{Name: "linear-ridge", Kind: linear, Params: `{"loss":"squared","C":10}`, Golden: true, Phases: iris},
		{Name: "linear-margin", Kind: linear,
			Params: `{"margin":true,"support_vectors":true,"C":1000,"features":{"scale":"standard"}}`,
			Golden: true, Phases: iris},
		{Name: "linear-texts", Kind: linear, Params: `{"solver":"ascend","C":0.1}`, Golden: true, Phases: Mails,
			Shards: []*Data{roundingTexts}, Blocks: true},
		{Name: "linear-hashed", Kind: linear,
			Params: `{"solver":"ascend","max_rounds":20,"features":{"hashing":{"bits":6}}}`,
			Golden: true, Phases: Mails},
		{Name: "linear-pairs", Kind: linear,
			Params: `{"classes":"one_vs_one","margin":true,"features":{"scale":"standard"}}`, Golden: true,
			Phases: iris, Shards: []*Data{rounding}, Blocks: true},
		{Name: "linear-pairs-ascend", Kind: linear,
			Params: `{"classes":"one_vs_one","solver":"ascend","max_rounds":20}`, Golden: true, Phases: irisSparse,
			Shards: []*Data{roundingSparse}, Blocks: true},
		{Name: "linear-regress", Kind: linear, Params: `{"mode":"regress","loss":"epsilon_insensitive"}`, Golden: true,
			Phases: irisNumbers, Blocks: true},
		{Name: "linear-regress-ridge", Kind: linear, Params: `{"mode":"regress","loss":"squared","C":10}`, Golden: true,
			Phases: irisNumbers},
		{Name: "linear-regress-ascend", Kind: linear,
			Params: `{"mode":"regress","loss":"squared_epsilon_insensitive","epsilon":0.2,"solver":"ascend","max_rounds":20}`,
			Golden: true, Phases: irisNumbers},
		{Name: "linear-logistic", Kind: linear, Params: `{"loss":"logistic","features":{"scale":"standard"}}`,
			Golden: true, Phases: iris, Shards: []*Data{rounding}, Blocks: true},
		{Name: "linear-logistic-texts", Kind: linear,
			Params: `{"loss":"logistic","solver":"ascend","max_rounds":20}`, Golden: true, Phases: Mails,
			Shards: []*Data{roundingTexts}, Blocks: true},
		{Name: "linear-ascends", Kind: linear, Params: `{"solver":"ascend","max_rounds":20}`, Phases: iris,
			Memory: &Large{Input: sparse}},
		{Name: "linear-large", Kind: linear, Params: `{"blocks":64,"max_rounds":6,"features":{"scale":"standard"}}`,
			Memory: &Large{Input: table32}},
		{Name: "linear-ascends-large", Kind: linear, Params: `{"solver":"ascend","blocks":64,"max_rounds":6}`,
			Memory: &Large{Input: table32}},
		{Name: "linear-newton-sparse", Kind: linear, Params: `{"solver":"newton","blocks":64,"max_rounds":4}`,
			Memory: &Large{Input: narrow}},
	}
}

// linearDigits are the rows of the matrix.
func linearDigits() []Case {
	linear := linearModel
	return []Case{
		{Name: "linear-digits", Kind: linear,
			Params: `{"blocks":5,"max_rounds":8,"features":{"scale":"standard"}}`,
			Matrix: &Clustered{Over: digits, Kill: `{"blocks":5,"max_rounds":4}`,
				Digest: "a4e11e90c2b881d2cc53d27ef345dd2f4a57d950799e5b13881744e8c432df1f"}},
		{Name: "linear-digits-support", Kind: linear,
			Params: `{"support_vectors":true,"margin":true,"blocks":5,"max_rounds":6,"features":{"scale":"standard"}}`,
			Matrix: &Clustered{Over: digits,
				Kill:        `{"support_vectors":true,"margin":true,"blocks":5,"max_rounds":3}`,
				Digest:      "af6aa79618367176231e5dfb82ae1da47147bb85cab77839f5bbe63a8db04477",
				Index:       "support/index.json",
				IndexDigest: "87988ddd7f335bca217b04f0e648b4168bf56d8bff23954b2effd6a3e483a423"}},
		{Name: "linear-digits-pairs", Kind: linear,
			Params: `{"classes":"one_vs_one","blocks":5,"max_rounds":4,"features":{"scale":"standard"}}`,
			Matrix: &Clustered{Over: digits, Kill: `{"classes":"one_vs_one","blocks":5,"max_rounds":3}`,
				Digest: "c973bcb40a2d2ba9325c310b9c1511be37b5c935dd50d953ec31608c33990443"}},
		{Name: "linear-digits-ascend", Kind: linear, Params: `{"solver":"ascend","blocks":5,"max_rounds":6}`,
			Matrix: &Clustered{Over: digits, Kill: `{"solver":"ascend","blocks":5,"max_rounds":4}`,
				Digest: "c629b4aad33cfe9c20129faf28ff9ff8f5a69932734347c378f92a7095537123"}},
		{Name: "linear-digits-logistic", Kind: linear,
			Params: `{"loss":"logistic","blocks":5,"max_rounds":4,"features":{"scale":"standard"}}`,
			Matrix: &Clustered{Over: digits, Kill: `{"loss":"logistic","blocks":5,"max_rounds":3}`,
				Digest: "d38657e4c404de4820aeee89e811afa537754d85e3abb8ee2478f1f23f4758a2"}},
		{Name: "linear-digits-logistic-ascend", Kind: linear,
			Params: `{"loss":"logistic","solver":"ascend","blocks":5,"max_rounds":4,"features":{"scale":"standard"}}`,
			Matrix: &Clustered{Over: digits, Kill: `{"loss":"logistic","solver":"ascend","blocks":5,"max_rounds":3}`,
				Digest: "50c7aa4f2c43ee907428b6b13000d278485a9fb07e4decf9fbede11d25c32646"}},
		{Name: "linear-digits-regress", Kind: linear,
			Params: `{"mode":"regress","loss":"epsilon_insensitive","blocks":5,"max_rounds":6}`,
			Matrix: &Clustered{Over: digits, Kill: `{"mode":"regress","loss":"squared","blocks":5,"max_rounds":4}`,
				Digest: "4c68a5d5af41ada385f530e44f0a8165751a20151311895b13e5fbcc9f111dd5"}},
		{Name: "linear-digits-regress-ascend", Kind: linear,
			Params: `{"mode":"regress","loss":"epsilon_insensitive","solver":"ascend","blocks":5,"max_rounds":6}`,
			Matrix: &Clustered{Over: digits,
				Kill:   `{"mode":"regress","loss":"squared","solver":"ascend","blocks":5,"max_rounds":4}`,
				Digest: "613b87947b46fe9da8d43f5040cfb230ce3a9978607777798191db467387077e"}},
	}
}
