package verify

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/gram-compute/gram/attestation/mlbom"
	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/proof"
)

// told checks the files that tell of the model: provenance.json, report.json and the bill of materials.
type told struct{ *verifier }

// compare reads the report and the bill of materials, and compares what they and provenance.json tell with the proof.
func (t told) compare(ctx context.Context) error {
	if err := t.openReport(ctx); err != nil {
		return err
	}
	known := origin.Proved{Manifest: t.manifest, Records: t.records}
	if t.spec.Kind != "" {
		known.Spec = &t.spec
	}
	if t.planned.Manifests != nil {
		known.Inputs = &t.planned
	}
	found, err := known.Compare(t.provenance, t.report)
	if err != nil {
		return t.contradicts(origin.ProvenanceFile, err)
	}
	if t.mismatch(OfRecord, found); len(found) > 0 {
		return nil // the bill of materials follows from these files, right or wrong
	}
	return t.compareBill(ctx)
}

func (t told) mismatch(of string, found []origin.Mismatch) {
	for _, m := range found {
		t.noteFalse(Finding{Of: of, File: m.File, Says: m.String() + "."})
	}
}

func (t told) openReport(ctx context.Context) error {
	data, err := t.read(ctx, origin.ReportFile, origin.MaxBytes)
	if data == nil || err != nil {
		return err
	}
	if t.report, err = origin.ReadReport(data); err != nil {
		return t.contradicts(origin.ReportFile, err)
	}
	return nil
}

// compareBill compares the bill of materials with what follows from the two other files.
func (t told) compareBill(ctx context.Context) error {
	data, err := t.read(ctx, mlbom.File, origin.MaxBytes)
	if data == nil || err != nil || t.report == nil {
		return err
	}
	found, err := mlbom.Compare(data, t.provenance, t.report.Metrics)
	if err != nil {
		return t.contradicts(mlbom.File, err)
	}
	t.mismatch(OfRecord, found)
	return nil
}

// compareFound compares what the report tells of the data with what the steps found, if all were repeated.
func (t told) compareFound(context.Context) error {
	steps := t.result.Steps
	if t.report == nil || t.found == nil || steps.Done != steps.Of {
		return nil
	}
	found, err := t.report.CompareFound(t.found, "the repeated steps")
	if err != nil {
		return t.contradicts(origin.ReportFile, err)
	}
	t.mismatch(OfOutput, found)
	return nil
}

// anew says what a job that began anew tells that nothing was compared with.
func (t told) anew() []string {
	if t.report == nil || !t.report.BeganAnew(len(t.manifest.Rounds)) {
		return nil
	}
	return []string{"By its report the job began anew. Rounds, metrics, warnings and files of before, which " +
		"provenance.json and report.json may list, were not compared."}
}

// emittedFiles are those that the report lists, and the parts that indexes among them list.
func (t told) emittedFiles(ctx context.Context) (files []file, err error) {
	if t.report == nil {
		return nil, nil
	}
	listed, err := t.listed(origin.ReportFile, t.report.Files)
	if err != nil {
		return nil, err
	}
	for _, f := range listed {
		if !strings.HasSuffix(f.name, "/"+jobs.IndexName) {
			files = append(files, f)
			continue
		}
		data, err := t.readFile(ctx, f.name, f.want, maxPlanBytes)
		if err != nil {
			return nil, err
		}
		if data == nil {
			continue // an index that is false or missing names no parts
		}
		var index struct {
			Parts []jobs.File `json:"parts"`
			Tiles []jobs.File `json:"tiles"`
		}
		if err := json.Unmarshal(data, &index); err != nil {
			return nil, t.contradicts(f.name, err)
		}
		parts, err := t.listed(f.name, append(index.Parts, index.Tiles...))
		if err != nil {
			return nil, err
		}
		files = append(files, parts...)
	}
	return files, nil
}

// listed are files that another one lists.
func (t told) listed(in string, list []jobs.File) (files []file, err error) {
	for _, f := range list {
		var digest proof.Digest
		if err := digest.UnmarshalText([]byte(f.SHA256)); err != nil {
			return nil, t.contradicts(in, err)
		}
		files = append(files, file{f.Name, proof.File{SHA256: digest, Size: f.Size}, " (" + in + " lists it)"})
	}
	return files, nil
}

// watch returns an emit that also adds the files that a report lists to into.
func watch(into *origin.Found, emit jobs.Emit) jobs.Emit {
	return func(ctx context.Context, name string, data []byte) (jobs.File, error) {
		file, err := emit(ctx, name, data)
		if err == nil && origin.IsListed(name) {
			into.Files = append(into.Files, file)
		}
		return file, err
	}
}
