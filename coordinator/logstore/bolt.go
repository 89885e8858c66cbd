package logstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hashicorp/go-msgpack/v2/codec"
	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
)

// ErrNotFound is the error for a stable value that was never set. raft recognizes it by its text.
var ErrNotFound = errors.New("not found")

// The buckets of the file. Any other name in it is damage.
const (
	logsBucket = "logs" // entries in MessagePack, by index in 8 bytes, big-endian
	confBucket = "conf" // stable values by key
)

// Bolt stores raft's log and stable values in a bbolt file, in the layout of hashicorp/raft-boltdb v2, so that
// either can open a file of the other. Every write is one transaction: all of it is on the disk, or nothing.
// It does not check what it reads; see Checked.
type Bolt struct{ db *bbolt.DB }

var _ Store = (*Bolt)(nil)

// Open opens the file, or creates it.
func Open(file string, options *bbolt.Options) (*Bolt, error) {
	db, err := bbolt.Open(file, 0o600, options)
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, errLogs := tx.CreateBucketIfNotExists([]byte(logsBucket))
		_, errConf := tx.CreateBucketIfNotExists([]byte(confBucket))
		return errors.Join(errLogs, errConf)
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Bolt{db}, nil
}

// Close closes the file.
func (b *Bolt) Close() error { return b.db.Close() }

// FirstIndex implements raft.LogStore.
func (b *Bolt) FirstIndex() (uint64, error) { return b.end((*bbolt.Cursor).First) }

// LastIndex implements raft.LogStore.
func (b *Bolt) LastIndex() (uint64, error) { return b.end((*bbolt.Cursor).Last) }

// end returns the index at one end of the log, 0 if the log is empty.
func (b *Bolt) end(seek func(*bbolt.Cursor) (key, value []byte)) (index uint64, err error) {
	err = b.db.View(func(tx *bbolt.Tx) error {
		if key, _ := seek(tx.Bucket([]byte(logsBucket)).Cursor()); key != nil {
			index, err = indexOf(key)
		}
		return err
	})
	return index, err
}

// GetLog implements raft.LogStore.
func (b *Bolt) GetLog(index uint64, entry *raft.Log) error {
	return b.db.View(func(tx *bbolt.Tx) error {
		stored := tx.Bucket([]byte(logsBucket)).Get(keyOf(index))
		if stored == nil {
			return raft.ErrLogNotFound
		}
		// the decoder may keep parts of what it reads, and the file's memory ends with the transaction
		return codec.NewDecoderBytes(bytes.Clone(stored), entryFormat).Decode(entry)
	})
}

// StoreLog implements raft.LogStore.
func (b *Bolt) StoreLog(entry *raft.Log) error { return b.StoreLogs([]*raft.Log{entry}) }

// StoreLogs implements raft.LogStore.
func (b *Bolt) StoreLogs(entries []*raft.Log) error {
	return b.db.Update(func(tx *bbolt.Tx) error {
		logs := tx.Bucket([]byte(logsBucket))
		for _, e := range entries {
			var stored []byte
			if err := codec.NewEncoderBytes(&stored, entryFormat).Encode(e); err != nil {
				return fmt.Errorf("encode entry %d of the log: %w", e.Index, err)
			}
			if err := logs.Put(keyOf(e.Index), stored); err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteRange implements raft.LogStore. It deletes the entries from first to last, both included.
func (b *Bolt) DeleteRange(first, last uint64) error {
	return b.db.Update(func(tx *bbolt.Tx) error {
		cursor := tx.Bucket([]byte(logsBucket)).Cursor()
		for key, _ := cursor.Seek(keyOf(first)); key != nil; key, _ = cursor.Next() {
			if index, err := indexOf(key); err != nil || index > last {
				return err
			}
			if err := cursor.Delete(); err != nil {
				return err
			}
		}
		return nil
	})
}

// Set implements raft.StableStore.
func (b *Bolt) Set(key, value []byte) error {
	return b.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte(confBucket)).Put(key, value) })
}

// Get implements raft.StableStore. A value that was never set is ErrNotFound.
func (b *Bolt) Get(key []byte) (value []byte, err error) {
	err = b.db.View(func(tx *bbolt.Tx) error {
		stored := tx.Bucket([]byte(confBucket)).Get(key)
		if stored == nil {
			return ErrNotFound
		}
		value = bytes.Clone(stored)
		return nil
	})
	return value, err
}

// SetUint64 implements raft.StableStore.
func (b *Bolt) SetUint64(key []byte, value uint64) error { return b.Set(key, keyOf(value)) }

// GetUint64 implements raft.StableStore.
func (b *Bolt) GetUint64(key []byte) (uint64, error) {
	value, err := b.Get(key)
	if err != nil {
		return 0, err
	}
	return indexOf(value)
}

// entryFormat is the encoding of an entry. Times are encoded as before MessagePack had a type for them.
var entryFormat = func() *codec.MsgpackHandle {
	var h codec.MsgpackHandle
	h.TimeNotBuiltin = true
	return &h
}()

func keyOf(index uint64) []byte { return binary.BigEndian.AppendUint64(nil, index) }

func indexOf(key []byte) (uint64, error) {
	if len(key) != 8 {
		return 0, damaged("a number of the log has %d bytes, not 8", len(key))
	}
	return binary.BigEndian.Uint64(key), nil
}
