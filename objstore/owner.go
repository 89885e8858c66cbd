package objstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// OwnerKey names the object that says whose a store is: the cluster's id, and below it those whose place it took.
	OwnerKey = "cluster/id"

	ownerLimit = 64 << 10
	ownersKept = 100
	ownerTries = 5
)

// ErrOwned: the store, or the prefix of it, belongs to another cluster. Two would destroy each other's outputs.
var ErrOwned = errors.New("the store belongs to another cluster")

// Own makes a store the cluster's that has this id, unless it is another's already. It is safe to repeat, and of
// several clusters at once one succeeds.
func Own(ctx context.Context, s Store, id string) error { return TakeOver(ctx, s, id, "") }

// TakeOver is Own for a cluster that was begun with a backup of another one, whose store it may take.
func TakeOver(ctx context.Context, s Store, id, of string) error {
	for range ownerTries {
		owners, info, err := readOwners(ctx, s)
		if errors.Is(err, ErrNotFound) {
			_, err = PutNew(ctx, s, OwnerKey, []byte(id+"\n"))
			if errors.Is(err, ErrExists) {
				continue // somebody was faster
			}
			return err
		}
		if err != nil || owners[0] == id {
			return err
		}
		if of == "" || !slices.Contains(owners, of) {
			return &Error{Op: "own", Store: s.String(), Key: OwnerKey,
				Err: fmt.Errorf("%w: it says %s, this is %s", ErrOwned, owners[0], id)}
		}
		text := strings.Join(append([]string{id}, owners[:min(len(owners), ownersKept)]...), "\n") + "\n"
		_, err = s.PutIf(ctx, OwnerKey, []byte(text), PutOptions{IfMatch: info.ETag})
		if err == nil || !errors.Is(err, ErrChanged) && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return &Error{Op: "own", Store: s.String(), Key: OwnerKey,
		Err: fmt.Errorf("%w: it changes all the time", ErrUnavailable)}
}

// CheckOwner refuses a store that belongs to a cluster with another id. One that nobody has claimed gives ErrNotFound.
func CheckOwner(ctx context.Context, s Store, id string) error {
	owners, _, err := readOwners(ctx, s)
	if err != nil || owners[0] == id {
		return err
	}
	return &Error{Op: "own", Store: s.String(), Key: OwnerKey,
		Err: fmt.Errorf("%w: it says %s, this is %s", ErrOwned, owners[0], id)}
}

// readOwners returns at least one id, the owner's first.
func readOwners(ctx context.Context, s Store) ([]string, Info, error) {
	text, info, err := ReadAll(ctx, s, OwnerKey, GetOptions{}, ownerLimit)
	if err != nil {
		return nil, Info{}, err
	}
	owners := strings.Fields(string(text))
	if len(owners) == 0 {
		return nil, Info{}, &Error{Op: "own", Store: s.String(), Key: OwnerKey,
			Err: fmt.Errorf("%w: it says nobody", ErrOwned)}
	}
	return owners, info, nil
}

// Replace stores data under key in place of the version that is there, or anew, and returns only when no other writer
// came between. It is for what may be made again with other bytes: a report, or an output that an audit corrects.
func Replace(ctx context.Context, s Store, key string, data []byte) (Info, error) {
	for range ownerTries {
		info, err := PutNew(ctx, s, key, data)
		if !errors.Is(err, ErrExists) {
			return info, err
		}
		found, err := s.Stat(ctx, key)
		if err == nil {
			info, err = s.PutIf(ctx, key, data, PutOptions{IfMatch: found.ETag})
		}
		if err == nil || !errors.Is(err, ErrChanged) && !errors.Is(err, ErrNotFound) {
			return info, err
		}
	}
	return Info{}, &Error{Op: "put", Store: s.String(), Key: key,
		Err: fmt.Errorf("%w: others write it all the time", ErrUnavailable)}
}
