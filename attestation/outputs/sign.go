package outputs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/attestation/origin"
	"github.com/gram-compute/gram/proof"
	"github.com/gram-compute/gram/protocol"
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
func (f *Folder) Sign(key *attestation.PrivateKey) ([]Signature, error) {
	r, spec, err := f.agree()
	if err != nil {
		return nil, err
	}
	if err := f.mayReplace(key.Public()); err != nil {
		return nil, err
	}
	model, err := attestation.SignModel(r.Job, f.Files, f.Listed, key)
	if err != nil {
		return nil, err
	}
	line, err := attestation.SignProvenance(f.run(r, spec), key)
	if err != nil {
		return nil, err
	}
	lines, err := attestation.AddProvenance(f.Provenance, line)
	if err != nil {
		return nil, err
	}
	return []Signature{{attestation.ModelSignatureFile, model}, {attestation.ProvenanceFile, lines}}, nil
}

// SignedBy takes a signature and a line of provenance that somebody else made, such as a cluster, if they are valid for
// the files of the folder, which must agree. It returns the files to write.
func (f *Folder) SignedBy(key attestation.PublicKey, model, line []byte) ([]Signature, error) {
	if _, _, err := f.agree(); err != nil {
		return nil, err
	}
	if err := f.mayReplace(key); err != nil {
		return nil, err
	}
	made := attestation.Folder{Model: f.Model, Files: f.Files, ModelSignature: model, Provenance: line}
	found := made.Check(key)
	if len(found) != 2 || found[0].Verdict != attestation.Valid || found[1].Verdict != attestation.Valid {
		return nil, protocol.TaskFault(protocol.CodeCorrupt, "these signatures are not valid for the files").
			Because(fmt.Errorf("%+v", found))
	}
	lines, err := attestation.AddProvenance(f.Provenance, line)
	if err != nil {
		return nil, err
	}
	return []Signature{{attestation.ModelSignatureFile, model}, {attestation.ProvenanceFile, lines}}, nil
}

// mayReplace refuses to replace a signature of another key: model.sig has room for one.
func (f *Folder) mayReplace(key attestation.PublicKey) error {
	signer := f.ModelSigner()
	if f.ModelSignature == nil || f.Replace || signer == key.ID() {
		return nil
	}
	return protocol.InputFault(protocol.CodeOutputTaken, "another key has signed it").
		In(attestation.ModelSignatureFile).Because(fmt.Errorf("it names the key %.64q", signer)).
		WithHint("Sign with --replace to put yours in its place")
}

// run tells of the job as its record does.
func (f *Folder) run(r *origin.Provenance, spec protocol.JobSpec) attestation.Run {
	run := attestation.Run{
		Job: r.Job, Spec: r.Spec, SpecHash: r.SpecHash, Builder: KeyHolder,
		Versions: map[string]string{"gram": r.Build, "go": r.Go}, Started: r.Started,
		Finished: r.Finished(),
		Internal: map[string]any{"result_sha256": r.ResultHash, "objects": r.ObjectCount, "kernel_sets": r.Kernels},
	}
	if r.Proof != nil {
		run.Root = r.Proof.Root.String()
	}
	for _, file := range f.Files {
		if attestation.IsIgnored(file.Name) || slices.Contains(f.Listed, file.Name) {
			continue
		}
		if file.Name == origin.ModelFile || file.Name == proof.ManifestFile {
			run.Subjects = append(run.Subjects, file)
		} else {
			run.Byproducts = append(run.Byproducts, file)
		}
	}
	byName := func(a, b attestation.File) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(run.Subjects, byName)
	slices.SortFunc(run.Byproducts, byName)
	run.Dependencies = dependencies(r, spec.Spec)
	return run
}

// dependencies are the plan's own digests, which cover all objects, then the objects that provenance.json lists: at
// most a thousand of each data set.
func dependencies(r *origin.Provenance, spec protocol.Spec) []attestation.Resource {
	all := []attestation.Resource{
		{Name: "manifest", Digest: map[string]string{"sha256": r.Manifest.SHA256.String()}},
		{Name: "plan", Digest: map[string]string{"sha256": r.Plan.SHA256.String()}},
	}
	all = appendObjects(all, "spec.input", spec.Input.URI, r.Objects)
	all = appendObjects(all, "spec.input.labels_uri", spec.Input.LabelsURI, r.Labels)
	all = appendObjects(all, "spec.input.ids_uri", spec.Input.IDsURI, r.IDs)
	if r.Queries != nil && spec.Queries != nil {
		all = appendObjects(all, "spec.queries", spec.Queries.URI, r.Queries.Objects)
		all = appendObjects(all, "spec.queries.labels_uri", spec.Queries.LabelsURI, r.Queries.Labels)
		all = appendObjects(all, "spec.queries.ids_uri", spec.Queries.IDsURI, r.Queries.IDs)
	}
	if r.InitialModel != nil {
		all = append(all, attestation.Resource{Name: "model", URI: r.InitialModel.URI,
			Digest: map[string]string{"sha256": r.InitialModel.SHA256}})
	}
	return all
}

// appendObjects adds the objects of a data set. Their keys count from the last slash of its URI.
func appendObjects(all []attestation.Resource, field, uri string, objects []origin.Object) []attestation.Resource {
	base := uri[:strings.LastIndexByte(uri, '/')+1]
	if strings.Count(uri, "/") == 2 { // a whole bucket
		base = uri + "/"
	}
	for _, o := range objects {
		resource := attestation.Resource{Name: field + "/" + o.Key, URI: base + o.Key, Annotations: map[string]any{
			"etag": o.ETag, "size": o.Size, "integrity": o.Integrity,
		}}
		if o.VersionID != "" {
			resource.Annotations["version_id"] = o.VersionID
		}
		if algorithm, sum, ok := strings.Cut(string(o.Digest), ":"); ok {
			resource.Digest = map[string]string{algorithm: sum}
		}
		all = append(all, resource)
	}
	return all
}
