package outputs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gram-compute/gram/attest"
	"github.com/gram-compute/gram/proof"
)

// KeyHolder is the builder of a provenance that is signed with a key file: what vouches is the key alone.
const KeyHolder = "https://github.com/gram-compute/gram/blob/main/docs/provenance.md#key-holder"

// Signature is a file of signatures, to be written into the folder.
type Signature struct {
	Name string
	Data []byte
}

// Sign signs the folder if its files agree: model.sig and provenance.intoto.jsonl. Lines of other keys in the latter
// stay. The same folder and key give the same bytes.
func (f *Folder) Sign(key *attest.PrivateKey) ([]Signature, error) {
	r, err := f.agree()
	if err != nil {
		return nil, err
	}
	model, err := attest.SignModel(r.Job, f.Files, f.Listed, key)
	if err != nil {
		return nil, err
	}
	line, err := attest.SignProvenance(f.run(r), key)
	if err != nil {
		return nil, err
	}
	lines, err := attest.AddProvenance(f.Provenance, line)
	if err != nil {
		return nil, err
	}
	return []Signature{{attest.ModelSignatureFile, model}, {attest.ProvenanceFile, lines}}, nil
}

// run tells of the job as its record does.
func (f *Folder) run(r *record) attest.Run {
	run := attest.Run{
		Job: r.Job, Spec: r.Spec, SpecHash: r.SpecHash, Builder: KeyHolder,
		Versions: map[string]string{"gram": r.Build, "go": r.Go}, Started: r.Started,
		Internal: map[string]any{"result_sha256": r.ResultHash, "objects": r.ObjectCount, "kernel_sets": r.Kernels},
	}
	if n := len(r.Rounds); n > 0 {
		run.Finished = r.Rounds[n-1].Finished
	}
	if r.Proof != nil {
		run.Root = r.Proof.Root
	}
	for _, file := range f.Files {
		if file.Name == ModelFile || file.Name == proof.ManifestFile {
			run.Subjects = append(run.Subjects, file)
		} else {
			run.Byproducts = append(run.Byproducts, file)
		}
	}
	byName := func(a, b attest.File) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(run.Subjects, byName)
	slices.SortFunc(run.Byproducts, byName)
	run.Dependencies = dependencies(r)
	return run
}

// dependencies are the plan's own digests, which cover all objects, then the objects that provenance.json lists, at most
// a thousand of each data set.
func dependencies(r *record) []attest.Resource {
	all := []attest.Resource{
		{Name: "manifest", Digest: map[string]string{"sha256": r.Manifest.SHA256}},
		{Name: "plan", Digest: map[string]string{"sha256": r.Plan.SHA256}},
	}
	all = appendObjects(all, "input", r.Objects)
	all = appendObjects(all, "input.labels_uri", r.Labels)
	if r.Queries != nil {
		all = appendObjects(all, "queries", r.Queries.Objects)
		all = appendObjects(all, "queries.labels_uri", r.Queries.Labels)
	}
	if r.InitialModel != nil {
		all = append(all, attest.Resource{Name: "model", URI: r.InitialModel.URI,
			Digest: map[string]string{"sha256": r.InitialModel.SHA256}})
	}
	return all
}

func appendObjects(all []attest.Resource, field string, objects []object) []attest.Resource {
	for _, o := range objects {
		resource := attest.Resource{Name: field + "/" + o.Key, Annotations: map[string]any{
			"etag": o.ETag, "size": o.Size, "integrity": o.Integrity,
		}}
		if o.VersionID != "" {
			resource.Annotations["version_id"] = o.VersionID
		}
		if algorithm, sum, ok := strings.Cut(o.Digest, ":"); ok {
			resource.Digest = map[string]string{algorithm: sum}
		}
		all = append(all, resource)
	}
	return all
}
