package pki

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrAuthority: the authority in the directory is not the one this identity began with.
var ErrAuthority = errors.New("another authority than at the start")

// Refresh takes up the certificate that is in the directory now, and makes another when it is about to expire
// and the authority's key is there. Configurations made before keep theirs. When it fails, nothing has changed.
func (id *Identity) Refresh(now time.Time) (changed bool, err error) {
	// first: LoadOrCreate would make an authority that is not there
	text, err := os.ReadFile(filepath.Join(id.dir, caFile))
	if err != nil {
		return false, fmt.Errorf("load certificate authority: %w", err)
	}
	if !sameCertificate(text, id.CAPEM) {
		return false, fmt.Errorf("%s: %w", filepath.Join(id.dir, caFile), ErrAuthority)
	}
	fresh, err := loadOrCreate(id.dir, id.hosts, now)
	if err != nil {
		return false, err
	}
	if !bytes.Equal(fresh.CAPEM, id.CAPEM) {
		return false, fmt.Errorf("%s: %w", filepath.Join(id.dir, caFile), ErrAuthority)
	}
	id.mu.Lock()
	defer id.mu.Unlock()
	changed = !bytes.Equal(fresh.cert.Leaf.Raw, id.cert.Leaf.Raw)
	id.cert = fresh.cert
	return changed, nil
}

func sameCertificate(a, b []byte) bool {
	one, _ := pem.Decode(a)
	other, _ := pem.Decode(b)
	return one != nil && other != nil && bytes.Equal(one.Bytes, other.Bytes)
}

// Expires is when the certificate in use does.
func (id *Identity) Expires() time.Time { return id.certificate().Leaf.NotAfter }
