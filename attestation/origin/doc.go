// Package origin defines what the files beside a model tell of it: provenance.json, report.json as far as programs read
// it, and what of both follows from the proof. Workers write these files, and all that reads them reads them here.
//
//	p, err := origin.ReadProvenance(data)
//	r, err := origin.ReadReport(data)
//	wrong, err := origin.Proved{Manifest: manifest}.Compare(p, r) // fields that the proof contradicts
package origin
