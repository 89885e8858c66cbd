package node

import "errors"

// Names of files in the data directory. NodeIDFile, ClusterIDFile and DivergedFile stand beside what reads them.
const (
	// BeganFile holds the word by which the cluster's store knows that this directory began the cluster.
	BeganFile = "began"
	// ClaimFile holds the id that the cluster has which this member begins: it claims the store before the
	// log says so, and a start that breaks off goes on with the same id.
	ClaimFile = "claim"
)

// What is wrong with a data directory or its disk.
var (
	// ErrDataDir: the data directory's files do not belong together; starting would
	// lose data or lock clients out.
	ErrDataDir = errors.New("the data directory is not whole")
	// ErrNotEmpty: what would begin a cluster needs an empty data directory.
	ErrNotEmpty = errors.New("the data directory is not empty")
	// ErrRemoved: this member was taken out of the cluster.
	ErrRemoved = errors.New("this coordinator was removed from its cluster")
	// ErrDiverged: the same log has led this member to another state than most.
	ErrDiverged = errors.New("this coordinator's state differs from that of the others")
)
