package main

// job is one task that every tool does from the same files.
type job struct {
	id, title string
	files     string // what they are
	arguments func(size string) []string
	quality   string // what the judge measures
	higher    bool   // a higher figure is better
	tools     []string
}

// Tools, in the order of the tables.
const (
	toolGram   = "Gram"
	toolSkl    = "scikit-learn"
	toolSklex  = "scikit-learn-intelex"
	toolFAISS  = "FAISS"
	toolSpark  = "Spark MLlib"
	centersOf  = "256"
	centersFew = "32"
)

func jobs() []job {
	return []job{
		{id: "kmeans", title: "k-means, 10 rounds from random first centers", files: "csv with a column of ids",
			arguments: bySize(centersFew, centersOf), quality: "inertia",
			tools: []string{toolGram, toolSkl, toolSklex, toolFAISS, toolSpark}},
		{id: "bayes", title: "naive Bayes of texts, 45 classes, and the labels of 5,882 others", files: "tsv",
			arguments: bySize(), quality: "accuracy", higher: true, tools: []string{toolGram, toolSkl, toolSpark}},
		{id: "svm", title: "linear SVM, hinge loss, C = 1, no bias", files: "libsvm",
			arguments: bySize("20000", "100000"), quality: "objective", tools: []string{toolGram, toolSkl, toolSpark}},
		{id: "knn", title: "3 nearest neighbors of MNIST's test pictures, and their vote", files: "npy, bytes",
			arguments: bySize(), quality: "accuracy", higher: true,
			tools: []string{toolGram, toolSkl, toolSklex, toolFAISS}},
	}
}

// bySize are the arguments of the small and the large job: one each, or none.
func bySize(small ...string) func(string) []string {
	return func(size string) []string {
		switch {
		case len(small) == 0:
			return nil
		case size == "small":
			return small[:1]
		}
		return small[1:]
	}
}

// script is the program that a user of the tool writes.
func (j job) script(tool string) string {
	return map[string]string{toolGram: j.id + "_gram.yaml", toolSkl: j.id + "_sklearn.py", toolSklex: j.id + "_sklearn.py",
		toolFAISS: j.id + "_faiss.py", toolSpark: j.id + "_spark.py"}[tool]
}

// overrides are what the arguments of a job are in its spec.
func (j job) overrides(size string) []string {
	field := map[string]string{"kmeans": "spec.params.k=", "svm": "spec.input.width="}[j.id]
	var set []string
	for _, a := range j.arguments(size) {
		set = append(set, "--set", field+a)
	}
	return set
}

// setting is how a job is run.
type setting struct {
	Size    string `json:"size"`
	Threads int    `json:"threads"`
	Parts   int    `json:"parts"` // files of the same records
}

// timed is the setting whose times are compared.
func timed(size string) setting { return setting{size, 2, 4} }

// settings are those whose models are counted.
func settings(size string) (all []setting) {
	for _, threads := range []int{1, 2} {
		for _, parts := range []int{1, 4, 7} {
			all = append(all, setting{size, threads, parts})
		}
	}
	return all
}
