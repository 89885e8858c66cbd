// Package attestation signs what a finished job left, and checks such signatures. It works on bytes and reads no files.
//
// Two files beside the model hold signatures:
//
//	model.sig                the signature of OpenSSF's model_signing: a Sigstore bundle (v0.3) around a DSSE envelope
//	                         around an in-toto statement that lists every file of the folder with its SHA-256
//	provenance.intoto.jsonl  DSSE envelopes, one in each line, around in-toto statements with a SLSA provenance (v1):
//	                         which spec, read from which input, gave which model
//
// Neither file covers the other, so that each can be made, and made again, without the other. Both cover the model.
//
// Keys are ECDSA on the curve P-256, in PEM. A signature is deterministic (RFC 6979): the same statement and key give
// the same bytes. A key's identifier is the SHA-256 of its public key's PEM text in hexadecimal, as model_signing
// computes it. The envelope's identifier is not signed: it tells which key to try, and a signature counts only if the
// key that verifies it has exactly this identifier.
package attestation
