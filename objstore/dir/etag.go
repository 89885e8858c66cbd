package dir

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io/fs"

	"github.com/gram-compute/gram/objstore"
)

func info(key string, fi fs.FileInfo) objstore.Info {
	return objstore.Info{Key: key, Size: fi.Size(), ETag: etag(fi)}
}

// etag digests a file's size, inode, mtime and ctime; see the package's text.
func etag(fi fs.FileInfo) string {
	inode, ctime := identity(fi)
	var b []byte
	for _, v := range []uint64{uint64(fi.Size()), inode, uint64(fi.ModTime().UnixNano()), uint64(ctime)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
