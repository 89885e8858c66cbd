package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// memberFiles are what makes a data directory a member's, in the order in which they are put aside: the name goes last,
// so that a second attempt finds it. Certificates, tokens and objects stay.
var memberFiles = []string{"raft", ClusterIDFile, DivergedFile, BeganFile, ClaimFile, NodeIDFile}

// IDIn returns the id of the member that lives in a data directory, and refuses one in which a coordinator runs.
func IDIn(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, NodeIDFile))
	if err != nil {
		return "", fmt.Errorf("%w: no member lives in %s: %w", ErrDataDir, dir, err)
	}
	options := boltOptions()
	options.ReadOnly = true
	file := filepath.Join(dir, "raft", LogFile)
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		return strings.TrimSpace(string(text)), nil // lost, or not begun
	}
	db, err := openLocked(file, options)
	switch {
	case err == nil:
		err = db.Close()
	case errors.Is(err, bolterrors.ErrTimeout):
		err = fmt.Errorf("a coordinator runs on %s: stop it first (%w)", dir, err)
	default:
		err = nil // damaged, which is why we are here
	}
	return strings.TrimSpace(string(text)), err
}

// openLocked is bbolt.Open, which may panic on a damaged file after it has the lock.
func openLocked(file string, options *bbolt.Options) (db *bbolt.DB, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v", bolterrors.ErrInvalid, cause)
		}
	}()
	return bbolt.Open(file, 0o600, options)
}

// SetAside moves what a member remembers into a folder of its data directory, whose name it returns. What remains can
// become a new member: under another id, for this one has forgotten what it voted for and acknowledged.
func SetAside(dir string, now time.Time) (string, error) {
	aside := filepath.Join(dir, "damaged-"+now.UTC().Format("20060102T150405Z"))
	if err := os.Mkdir(aside, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("put the member's files aside: %w", DiskError(err))
	}
	for _, name := range memberFiles {
		err := os.Rename(filepath.Join(dir, name), filepath.Join(aside, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("put the member's files aside: %w", DiskError(err))
		}
	}
	return aside, errors.Join(syncDir(aside), syncDir(dir))
}
