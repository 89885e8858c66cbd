// Package proof is what a finished job leaves so that anyone can check it: the digests of all that was made on the
// way from the input to the model, under one root.
//
// Below the folder of the job's outputs lie
//
//	proof/manifest.json              Manifest: the rounds, what is kept, and the root
//	proof/spec.json                  the spec, as canonical JSON
//	proof/input.json, plan.json      the objects that were read, pinned; the shards
//	proof/rounds/000001.safetensors  Record: the digests of all nodes of a round
//	proof/states/DIGEST.safetensors  the state that a round began with (proof: states, full)
//	proof/partials/DIGEST.safetensors  the partial of a node (proof: full)
//
// # Digests of nodes
//
// The digest of a node is the SHA-256 of its partial as it is stored. The partial of a node that was merged holds the
// digests of all nodes beneath it (package jobs/run), and so its own digest covers them: the digest of a root, which
// the coordinator decides on, is that of its whole tree. A tree of n leaves has 2n-1 nodes. They are listed in
// post-order: the nodes of the left child, those of the right one, the node itself.
//
// # Rounds
//
// A record is digested when its round ends, and the next state holds that digest and the number of the round. So a
// state covers all that was before it, and the records of all rounds are found from the last one.
//
// # The root
//
// Root is the Merkle tree hash of RFC 6962, section 2.1, with SHA-256, over the digests of spec.json, input.json,
// plan.json, the records of all rounds in order, and the model.
package proof
