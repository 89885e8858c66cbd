// Package bench measures the machine that gram runs on: the limits of a core, kernels as a share of them, and whole
// small jobs. It compares two such measurements.
package bench

import "github.com/gram-compute/gram/internal/measure"

// Edition numbers the workloads: digests and rates of different editions are of different work.
const Edition = 1

// seed is that of all data.
const seed = 7

// Result is one measurement of one machine.
type Result struct {
	SchemaVersion int      `json:"schema_version"`
	Edition       int      `json:"edition"`
	Sentence      string   `json:"sentence"`
	Started       string   `json:"started"` // RFC 3339, UTC
	Seconds       float64  `json:"seconds"`
	Short         bool     `json:"short"`
	Version       string   `json:"version"`
	Commit        string   `json:"commit,omitempty"`
	Machine       Hardware `json:"machine"`
	Kernels       string   `json:"kernels"` // the set
	Rows          []Row    `json:"rows"`
	Jobs          []Job    `json:"jobs"`
	Busy          Busy     `json:"busy"`
}

// Hardware names the machine.
type Hardware struct {
	CPU    string   `json:"cpu"`
	Model  string   `json:"model,omitempty"`
	Caches []string `json:"caches,omitempty"`
	Cores  int      `json:"cores"`
	Memory string   `json:"memory,omitempty"`
	System string   `json:"system"`
	Go     string   `json:"go"`
}

// Row is one loop or kernel.
type Row struct {
	ID       string          `json:"id"`
	Title    string          `json:"title"`
	Unit     string          `json:"unit"` // of 1e9 a second
	OneCore  measure.Spread  `json:"one_core"`
	AllCores *measure.Spread `json:"all_cores,omitempty"`
	// Share is the rate over that of the limit in the same round, on one core; nil for a limit itself.
	Share  *float64 `json:"share,omitempty"`
	Of     string   `json:"of,omitempty"` // the ID of that limit
	Digest string   `json:"digest,omitempty"`
}

// Job is a whole job, from its submission to its model.
type Job struct {
	ID      string         `json:"id"`
	Title   string         `json:"title"`
	Seconds measure.Spread `json:"seconds"`
	Digest  string         `json:"digest"` // SHA-256 of the model
}

// Busy is what else the machine did.
type Busy struct {
	measure.Activity
	// Share is the part of the wall clock for which the thread of the one-core rounds had its processor.
	Share float64 `json:"one_core_share"`
	// Spread is the greatest distance of a row's quartiles, as a part of its median, and Widest that row.
	Spread   float64  `json:"spread"`
	Widest   string   `json:"widest,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}
