package protocol

import "strings"

// ModelFile is the name of a job's model among its outputs.
const ModelFile = "model.safetensors"

// PredictKind is the kind whose model is the list of the parts of its predictions.
const PredictKind = "Predict"

// LatestOf ends a reference to the latest success of a schedule: news@latest.
const LatestOf = "@latest"

// IsReference reports whether text names a job rather than a file or a URI: a job's id,
// SCHEDULE@latest, or @ALIAS.
func IsReference(text string) bool {
	if name, alias := strings.CutPrefix(text, "@"); alias {
		return ValidJobID(name)
	}
	return ValidJobID(strings.TrimSuffix(text, LatestOf))
}
