package logstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/gram-compute/gram/internal/faults"
	"github.com/hashicorp/raft"
)

// checksumMark begins the Extensions of an entry with a checksum, which follows in 4 bytes. raft leaves Extensions to
// layers like this one; what the entry had there itself comes last.
const checksumMark = "\x00gc1"

const checksumSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errUnchecked: the entry or value was written by a version without checksums.
var errUnchecked = errors.New("it has no checksum")

// Checked gives every entry and every stable value a CRC-32C on its way to the disk, and checks it on the way back.
// Neither leaves this member: peers see entries as raft made them.
type Checked struct{ inner Store }

var _ Store = (*Checked)(nil)

// Check returns a store on top of inner, whose Upgrade must be called once.
func Check(inner Store) *Checked { return &Checked{inner} }

// sum covers all that an entry has, and nothing of how it is encoded.
func sum(e *raft.Log, extensions []byte) uint32 {
	var head [37]byte
	binary.LittleEndian.PutUint64(head[0:], e.Index)
	binary.LittleEndian.PutUint64(head[8:], e.Term)
	head[16] = byte(e.Type)
	binary.LittleEndian.PutUint64(head[17:], uint64(e.AppendedAt.Unix()))
	binary.LittleEndian.PutUint32(head[25:], uint32(e.AppendedAt.Nanosecond()))
	binary.LittleEndian.PutUint64(head[29:], uint64(len(e.Data)))
	crc := crc32.Update(0, castagnoli, head[:])
	crc = crc32.Update(crc, castagnoli, e.Data)
	return crc32.Update(crc, castagnoli, extensions)
}

// StoreLog implements raft.LogStore.
func (c *Checked) StoreLog(entry *raft.Log) error { return c.StoreLogs([]*raft.Log{entry}) }

// StoreLogs implements raft.LogStore.
func (c *Checked) StoreLogs(entries []*raft.Log) error {
	if err := faults.Disk(); err != nil {
		return err
	}
	marked := make([]*raft.Log, len(entries))
	for i, e := range entries {
		own := *e // raft goes on using its own
		own.Extensions = binary.LittleEndian.AppendUint32([]byte(checksumMark), sum(e, e.Extensions))
		own.Extensions = append(own.Extensions, e.Extensions...)
		marked[i] = &own
	}
	return c.inner.StoreLogs(marked)
}

// GetLog implements raft.LogStore. Errors wrap ErrDamaged where the entry is not the one that was stored.
func (c *Checked) GetLog(index uint64, entry *raft.Log) error {
	err := c.get(index, entry)
	if errors.Is(err, errUnchecked) {
		return damaged("entry %d of the log: %v", index, err)
	}
	return err
}

func (c *Checked) get(index uint64, entry *raft.Log) error {
	var read raft.Log
	if err := c.inner.GetLog(index, &read); err != nil {
		if errors.Is(err, raft.ErrLogNotFound) {
			return err
		}
		return damaged("entry %d of the log cannot be read: %v", index, err)
	}
	if read.Index != index {
		return damaged("entry %d of the log calls itself %d", index, read.Index)
	}
	rest, marked := bytes.CutPrefix(read.Extensions, []byte(checksumMark))
	if !marked || len(rest) < checksumSize {
		*entry = read
		return errUnchecked
	}
	want := binary.LittleEndian.Uint32(rest)
	read.Extensions = nil
	if own := rest[checksumSize:]; len(own) > 0 {
		read.Extensions = own
	}
	if sum(&read, read.Extensions) != want {
		return damaged("entry %d of the log does not have its checksum", index)
	}
	*entry = read
	return nil
}

// FirstIndex implements raft.LogStore.
func (c *Checked) FirstIndex() (uint64, error) { return c.inner.FirstIndex() }

// LastIndex implements raft.LogStore.
func (c *Checked) LastIndex() (uint64, error) { return c.inner.LastIndex() }

// DeleteRange implements raft.LogStore.
func (c *Checked) DeleteRange(first, last uint64) error { return c.inner.DeleteRange(first, last) }

// Set implements raft.StableStore.
func (c *Checked) Set(key, value []byte) error {
	return c.inner.Set(key, binary.LittleEndian.AppendUint32(bytes.Clone(value), valueSum(key, value)))
}

func valueSum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}

// Get implements raft.StableStore. Errors wrap ErrDamaged where the value is not the one that was set.
func (c *Checked) Get(key []byte) ([]byte, error) {
	stored, err := c.inner.Get(key)
	if err != nil {
		return nil, err
	}
	n := len(stored) - checksumSize
	if n < 0 || valueSum(key, stored[:n]) != binary.LittleEndian.Uint32(stored[n:]) {
		return nil, damaged("the value of %s does not have its checksum", key)
	}
	return stored[:n], nil
}

// SetUint64 implements raft.StableStore. The value comes first, so that versions without checksums read it.
func (c *Checked) SetUint64(key []byte, value uint64) error {
	return c.Set(key, binary.BigEndian.AppendUint64(nil, value))
}

// GetUint64 implements raft.StableStore.
func (c *Checked) GetUint64(key []byte) (uint64, error) {
	value, err := c.Get(key)
	if err != nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, damaged("the value of %s has %d bytes", key, len(value))
	}
	return binary.BigEndian.Uint64(value), nil
}

// upgradeBatch is how many entries one transaction rewrites.
const upgradeBatch = 256

// Upgrade gives checksums to what a version without them wrote, once in a file's life, and returns to how many
// entries. It may break off anywhere. found is what Pages says of the file.
func (c *Checked) Upgrade(found *File) (int, error) {
	switch _, err := c.Get([]byte(markKey)); {
	case err == nil:
		return 0, nil
	case !errors.Is(err, ErrNotFound):
		return 0, err
	}
	count := 0
	var batch []*raft.Log
	flush := func() error {
		count += len(batch)
		err := c.StoreLogs(batch)
		batch = nil
		return err
	}
	for _, index := range found.Entries {
		var entry raft.Log
		switch err := c.get(index, &entry); {
		case errors.Is(err, errUnchecked):
			batch = append(batch, &entry)
		case err != nil:
			continue // Verify reports it
		}
		if len(batch) == upgradeBatch {
			if err := flush(); err != nil {
				return count, fmt.Errorf("add checksums to the log: %w", err)
			}
		}
	}
	if err := flush(); err != nil {
		return count, fmt.Errorf("add checksums to the log: %w", err)
	}
	return count, c.upgradeStable(found)
}

func (c *Checked) upgradeStable(found *File) error {
	for _, key := range found.Stable {
		if _, err := c.Get([]byte(key)); !errors.Is(err, ErrDamaged) {
			continue // it has one
		}
		value, err := c.inner.Get([]byte(key))
		if err == nil {
			err = c.Set([]byte(key), value)
		}
		if err != nil {
			return fmt.Errorf("add a checksum to %s: %w", key, err)
		}
	}
	return c.Set([]byte(markKey), []byte("1"))
}

// Verify reads every entry and value, and returns the entries that are damaged, ascending.
func (c *Checked) Verify(found *File) (bad []uint64, first error) {
	for _, key := range found.Stable {
		if _, err := c.Get([]byte(key)); err != nil {
			return nil, err
		}
	}
	for _, index := range found.Entries {
		var entry raft.Log
		if err := c.GetLog(index, &entry); err != nil {
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, raft.ErrLogNotFound) {
				return nil, err
			}
			bad = append(bad, index)
		}
	}
	return bad, nil
}
