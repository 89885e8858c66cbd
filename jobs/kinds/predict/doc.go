// Package predict applies a model to a data set: the kind Predict.
//
// spec.model names the model, of any kind that predicts. Every shard of spec.input becomes one
// output object below "predictions/", with a row for every record in its order; "predictions/index.json"
// says how they follow each other, and the job's model.safetensors holds the same list. Where the
// records have labels, the decisions are judged as package evaluation does. With params.distances, a model of clusters
// gives the distances to all of its centers, in several parts where a shard has many.
package predict
