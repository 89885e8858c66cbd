// Package report shows a finished job to people: one HTML page without scripts and without
// anything to fetch, with its figures as SVG.
package report
