package proof

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Folder is where the proof lies below the folder of a job's outputs.
const Folder = "proof/"

// Names of the files of a proof, below the folder of the job's outputs.
const (
	ManifestFile = Folder + "manifest.json"
	SpecFile     = Folder + "spec.json"
	InputFile    = Folder + "input.json"
	PlanFile     = Folder + "plan.json"

	// RoundsFolder, StatesFolder and PartialsFolder hold files that RoundFile, StateFile and PartialFile name.
	RoundsFolder   = Folder + "rounds/"
	StatesFolder   = Folder + "states/"
	PartialsFolder = Folder + "partials/"

	suffix = ".safetensors"
)

// RoundFile is the name of the record of a round, counted from 1.
func RoundFile(round int64) string { return fmt.Sprintf("%s%06d%s", RoundsFolder, round, suffix) }

// StateFile is the name of a state.
func StateFile(d Digest) string { return StatesFolder + d.String() + suffix }

// PartialFile is the name of the partial of a node.
func PartialFile(d Digest) string { return PartialsFolder + d.String() + suffix }

// Digest is a SHA-256. Its text is hexadecimal, in JSON too.
type Digest [32]byte

// DigestOf digests data.
func DigestOf(data []byte) Digest { return sha256.Sum256(data) }

// String is the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText writes the digest in hexadecimal.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads 64 hexadecimal digits, as MarshalText writes them.
func (d *Digest) UnmarshalText(text []byte) error {
	if len(text) != 2*len(d) {
		return fmt.Errorf("a SHA-256 has 64 hexadecimal digits, not %d", len(text))
	}
	if _, err := hex.Decode(d[:], text); err != nil {
		return fmt.Errorf("a SHA-256 in hexadecimal: %w", err)
	}
	if d.String() != string(text) {
		return fmt.Errorf("the SHA-256 %.64s is not in lower case", text)
	}
	return nil
}
