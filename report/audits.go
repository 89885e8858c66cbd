package report

// Audits are the tasks that were made a second time, and what came of it.
type Audits struct {
	Says      string
	Facts     [][2]string
	Auditors  []Auditor
	Convicted []Convicted
}

// Auditor is a worker that made tasks a second time.
type Auditor struct {
	Name, Kernels string
	Tasks         uint64
	OtherSets     uint64 // whose first maker has another kernel set
}

// Convicted is a worker that made another result of a task than the right one.
type Convicted struct {
	Name, ID, Task, Job string
	Than                string // whose result was another
}
