// Package gramv1 is the generated code of protocol/gram/v1: the messages of the
// three services and the entries of the replicated log.
package gramv1
