package main

import "github.com/gram-compute/gram/internal/measure"

// goal is a figure to reach.
type goal struct {
	id       string
	what     string
	workload string
	subject  string   // the contender it is asked of
	against  []string // the best of these in each round; none: its own rate counts
	least    float64
	stretch  float64 // 0: none
	figure
}

// Who is asked and compared with.
const (
	wide   = "gram avx512"
	narrow = "gram avx2"
	packed = wide + packedBase
	zmm    = "peak avx512"
	ymm    = "peak avx2"
)

var best = []string{"faiss", "sklearn"}

// goals are those of one core, on a machine with AVX-512.
func goals() []goal {
	of := func(names ...string) []string { return names }
	return []goal{
		{"xyt-128-peak", "X·Yᵀ d=128 AVX-512 of the zmm peak", xyt128, wide, of(zmm), 0.86, 0.90, share},
		{"xyt-784-peak", "X·Yᵀ d=784 AVX-512 of the zmm peak", xyt784, wide, of(zmm), 0.85, 0.90, share},
		{"xyt-128-openblas", "X·Yᵀ d=128 against OpenBLAS", xyt128, wide, of("openblas"), 1.2, 0, ratio},
		{"xyt-784-openblas", "X·Yᵀ d=784 against OpenBLAS", xyt784, wide, of("openblas"), 0.95, 1, ratio},
		{"xyt-128-avx2", "X·Yᵀ d=128 AVX2 of the ymm peak", xyt128, narrow, of(ymm), 0.90, 0, share},
		{"xyt-784-avx2", "X·Yᵀ d=784 AVX2 of the ymm peak", xyt784, narrow, of(ymm), 0.90, 0, share},
		{"kmeansexact-256-peers", "exact k-means 500k x 32 k=256 against the best peer", kmeans256, wide, best, 1.6, 2,
			ratio},
		{"kmeansexact-100-peers", "exact k-means 200k x 64 k=100 against the best peer", kmeans100, wide, best, 1.5, 2,
			ratio},
		{"kmeansexact-10-peers", "exact k-means 60k x 784 k=10 against the best peer", kmeans10, wide, best, 2, 0,
			ratio},
		{"kmeansexact-256-sklearn", "exact k-means 500k x 32 k=256 against scikit-learn", kmeans256, wide,
			of("sklearn"), 3, 0,
			ratio},
		{"kmeansexact-100-sklearn", "exact k-means 200k x 64 k=100 against scikit-learn", kmeans100, wide,
			of("sklearn"), 3, 0,
			ratio},
		{"kmeansexact-10-sklearn", "exact k-means 60k x 784 k=10 against scikit-learn", kmeans10, wide, of("sklearn"),
			3, 0,
			ratio},
		{"knn-128-peak", "top-10 of 100k x 128 of the zmm peak", knn128, wide, of(zmm), 0.80, 0.87, share},
		{"knn-784-peak", "top-5 of 60k x 784 of the zmm peak", knn784, wide, of(zmm), 0.84, 0.87, share},
		{"knn-128-faiss", "top-10 of 100k x 128 against FAISS", knn128, packed, of("faiss"), 4, 5, ratio},
		{"knn-784-faiss", "top-5 of 60k x 784 against FAISS", knn784, packed, of("faiss"), 3.8, 4.5, ratio},
		{"knnsingle-read", "one query a call of read bandwidth", knnSingle, wide, of("read", "read base"), 0.85, 0,
			share},
		{"knnsingle-faiss", "one query a call against FAISS", knnSingle, packed, of("faiss"), 3, 0, ratio},
		{"rbf-128-peak", "RBF matrix d=128 of the zmm peak", rbf128, wide, of(zmm), 0.78, 0, share},
		{"rbf-784-peak", "RBF matrix d=784 of the zmm peak", rbf784, wide, of(zmm), 0.85, 0, share},
		{"rbf-128-sklearn", "RBF matrix d=128 against scikit-learn", rbf128, wide, of("sklearn"), 4, 0, ratio},
		{"rbf-784-sklearn", "RBF matrix d=784 against scikit-learn", rbf784, wide, of("sklearn"), 2.7, 0, ratio},
		{"poly-128-sklearn", "polynomial matrix d=128 against scikit-learn", poly128, wide, of("sklearn"), 1.7, 0,
			ratio},
		{"dot-read", "dense dot beyond cache of read bandwidth", dotRows, wide, of("read"), 0.90, 0, share},
		{"axpy-read", "dense axpy beyond cache of read bandwidth", axpyRows, wide, of("read"), 0.90, 0, share},
		{"sparse-dot", "sparse dot, a non-zero", sparse, wide, nil, 1 / 0.45, 0, perNonzero},
		{"generic", "X·Yᵀ by the exact generic set", generic, "gram generic", nil, 1.5, 0, speed},
	}
}

// verdict is a goal and what was measured.
type verdict struct {
	goal
	measured measure.Spread // by round
	missing  string         // why there is no measurement; "" if there is
}

func (v verdict) met() bool { return v.missing == "" && v.measured.Median >= v.least }

// judge holds the results of one core to the goals.
func judge(results []result, all []goal) []verdict {
	byID := map[string]result{}
	for _, r := range results {
		if r.threads == 1 {
			byID[r.id] = r
		}
	}
	verdicts := make([]verdict, len(all))
	for i, g := range all {
		verdicts[i] = g.judge(byID)
	}
	return verdicts
}

func (g goal) judge(byID map[string]result) verdict {
	v := verdict{goal: g}
	r, ok := byID[g.workload]
	if !ok {
		v.missing = g.workload + " was not run"
		return v
	}
	subject, ok := r.find(g.subject)
	if !ok {
		v.missing = "no contender " + g.subject
		return v
	}
	figures := r.rates(subject)
	if len(g.against) > 0 {
		others, missing := r.findAll(g.against)
		if missing != "" {
			v.missing = "no contender " + missing
			return v
		}
		figures = r.ratios(subject, others...)
	}
	v.measured = measure.SpreadOf(figures)
	return v
}

func (r result) findAll(names []string) (found []entry, missing string) {
	for _, name := range names {
		e, ok := r.find(name)
		if !ok {
			return nil, name
		}
		found = append(found, e)
	}
	return found, ""
}
