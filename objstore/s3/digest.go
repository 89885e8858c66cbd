package s3

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/gram-compute/gram/objstore"
)

// digest is what the server's reply to a HEAD says of all bytes of the object. An ETag is their MD5 where the
// object was put in one part and is not encrypted with a key of KMS or of the client (Amazon S3 API, Object,
// ETag). Where it is not, the server is asked for its checksums; a refusal means that there are none.
func (s *Store) digest(ctx context.Context, key string, found minio.ObjectInfo) objstore.Digest {
	if etagIsMD5(found) {
		return objstore.Digest("md5:" + strings.ToLower(found.ETag))
	}
	again, err := s.client.StatObject(ctx, s.cfg.Bucket, s.prefix+key, minio.StatObjectOptions{Checksum: true})
	if err != nil || again.ETag != found.ETag {
		return ""
	}
	return checksumOf(again)
}

func etagIsMD5(found minio.ObjectInfo) bool {
	sum, err := hex.DecodeString(found.ETag)
	if err != nil || len(sum) != md5.Size {
		return false
	}
	for name, values := range found.Metadata { //lint:ordered any one such header decides
		name = strings.ToLower(name)
		switch {
		case strings.HasPrefix(name, "x-amz-server-side-encryption-customer"):
			return false
		case name == "x-amz-server-side-encryption":
			for _, v := range values {
				if v != "AES256" {
					return false
				}
			}
		}
	}
	return true
}

// checksumOf is the best checksum of the whole object; those of parts ("...-3") say nothing of it.
func checksumOf(found minio.ObjectInfo) objstore.Digest {
	given := map[string]string{"sha256": found.ChecksumSHA256, "sha1": found.ChecksumSHA1,
		"crc64nvme": found.ChecksumCRC64NVME, "crc32c": found.ChecksumCRC32C, "crc32": found.ChecksumCRC32}
	if found.ChecksumMode == "COMPOSITE" || strings.Contains(found.ETag, "-") && found.ChecksumMode != "FULL_OBJECT" {
		return ""
	}
	for _, name := range objstore.DigestAlgorithms() {
		sum, err := base64.StdEncoding.DecodeString(given[name])
		if err != nil || len(sum) == 0 {
			continue
		}
		digest := objstore.Digest(name + ":" + hex.EncodeToString(sum))
		if _, _, err := digest.Hash(); err == nil {
			return digest
		}
	}
	return ""
}
