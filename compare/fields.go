package compare

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/attestation/origin"
)

// Field is a value that differs, as JSON; "" where a job has none.
type Field = origin.Field

// inputs compares the objects that were read, and the models that were begun from. ETags of different kinds of store
// differ for the same bytes, so they count only where there is no digest.
func inputs(left, right *origin.Provenance) []Field {
	a, b := map[string]string{}, map[string]string{}
	for _, side := range []struct {
		of   *origin.Provenance
		into map[string]string
	}{{left, a}, {right, b}} {
		queries := cmp.Or(side.of.Queries, &origin.DataSet{})
		for name, objects := range map[string][]origin.Object{
			"input": side.of.Objects, "input labels": side.of.Labels, "input ids": side.of.IDs,
			"queries": queries.Objects, "queries labels": queries.Labels, "queries ids": queries.IDs,
		} {
			for _, o := range objects {
				size := strconv.FormatInt(o.Size, 10)
				side.into[name+" "+o.Key] = size + " bytes, " + cmp.Or(string(o.Digest), "etag "+o.ETag)
			}
		}
		if m := side.of.InitialModel; m != nil {
			side.into["model"] = fmt.Sprintf(`{"uri":%q,"sha256":%q,"size":%d}`, m.URI, m.SHA256, m.Size)
		}
	}
	found := origin.Differing(a, b)
	if len(found) == 0 && (unlisted(left) || unlisted(right)) && left.Manifest != right.Manifest {
		found = append(found, Field{Path: "objects that are not listed",
			Left: "manifest " + left.Manifest.SHA256.String(), Right: "manifest " + right.Manifest.SHA256.String()})
	}
	return found
}

// unlisted reports whether the input has more objects than provenance lists.
func unlisted(p *origin.Provenance) bool { return p.ObjectCount > len(p.Objects) }

func builds(left, right *origin.Provenance) []Field {
	of := func(p *origin.Provenance) map[string]string {
		return map[string]string{"build": p.Build, "go": p.Go, "kernels": strings.Join(p.Kernels, ", ")}
	}
	return origin.Differing(of(left), of(right))
}
