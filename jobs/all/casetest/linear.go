package casetest

import "slices"

const linearModel = "LinearModel"

func linear() []Case { return slices.Concat(linearModels(), linearDigits()) }

func linearModels() []Case {
	linear := linearModel
	return []Case{
		{Name: "linear", Kind: linear, Params: `{"features":{"scale":"standard"}}`, Golden: true, Phases: iris,
			Shards: []*Data{rounding}, Blocks: true,
			Degenerate: &Learner{Predicts: true, Classifies: true},
			Memory:     &Large{Input: table32}},
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
		{Name: "linear-ascends-dense", Kind: linear, Params: `{"solver":"ascend","max_rounds":8}`,
			Memory: &Large{Input: table32}},
		{Name: "linear-newton-sparse", Kind: linear, Params: `{"solver":"newton","max_rounds":8}`,
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
				Digest: "10875e682f7e4a4f6653cf80b8607ff691d21e0e9df8e38ca77b7821c89d40e2"}},
		{Name: "linear-digits-support", Kind: linear,
			Params: `{"support_vectors":true,"margin":true,"blocks":5,"max_rounds":6,"features":{"scale":"standard"}}`,
			Matrix: &Clustered{Over: digits,
				Kill:        `{"support_vectors":true,"margin":true,"blocks":5,"max_rounds":3}`,
				Digest:      "4fbbcad21d635f1fbe60c6be9ae98258e2f20a0f3a14d0e0e51f2473f8806990",
				Index:       "support/index.json",
				IndexDigest: "87988ddd7f335bca217b04f0e648b4168bf56d8bff23954b2effd6a3e483a423"}},
		{Name: "linear-digits-ascend", Kind: linear, Params: `{"solver":"ascend","blocks":5,"max_rounds":6}`,
			Matrix: &Clustered{Over: digits, Kill: `{"solver":"ascend","blocks":5,"max_rounds":4}`,
				Digest: "86eeba6dd66a332b7854465d427f16a37752910371d9e295ba70b10cb1e0d65e"}},
		{Name: "linear-digits-logistic", Kind: linear,
			Params: `{"loss":"logistic","blocks":5,"max_rounds":4,"features":{"scale":"standard"}}`,
			Matrix: &Clustered{Over: digits, Kill: `{"loss":"logistic","blocks":5,"max_rounds":3}`,
				Digest: "9e571ea808843c5cdd5d64360923283cd741c84f1adea22999d191b57dacd036"}},
		{Name: "linear-digits-logistic-ascend", Kind: linear,
			Params: `{"loss":"logistic","solver":"ascend","blocks":5,"max_rounds":4,"features":{"scale":"standard"}}`,
			Matrix: &Clustered{Over: digits, Kill: `{"loss":"logistic","solver":"ascend","blocks":5,"max_rounds":3}`,
				Digest: "2d2c332414b3634e485dd769d3155069bf595896aec78d0bdf44baf5590a1c76"}},
		{Name: "linear-digits-regress", Kind: linear,
			Params: `{"mode":"regress","loss":"epsilon_insensitive","blocks":5,"max_rounds":6}`,
			Matrix: &Clustered{Over: digits, Kill: `{"mode":"regress","loss":"squared","blocks":5,"max_rounds":4}`,
				Digest: "80b61d3e62b0548503d46665cfaa798af08f074195c096dd7e199b629cfa8791"}},
		{Name: "linear-digits-regress-ascend", Kind: linear,
			Params: `{"mode":"regress","loss":"epsilon_insensitive","solver":"ascend","blocks":5,"max_rounds":6}`,
			Matrix: &Clustered{Over: digits,
				Kill:   `{"mode":"regress","loss":"squared","solver":"ascend","blocks":5,"max_rounds":4}`,
				Digest: "8471ad3541a01fb9eb85fe6f01d2ab2c6ebb422eb128dd1bbd20750da8743465"}},
	}
}
