// Package findings reads, for people, what the rounds of jobs found. These objects lie in the cluster's own store,
// wherever a job's outputs go, from the end of each round until the job is retired.
package findings
