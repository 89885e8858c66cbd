package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/protocol"
)

// pinnedModel is the model that a job began from, as the plan task read it.
type pinnedModel struct {
	URI    string `json:"uri"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

func pinModel(uri string, data []byte) *pinnedModel {
	sum := sha256.Sum256(data)
	return &pinnedModel{URI: uri, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}
}

func (m *pinnedModel) check() error {
	sum, err := hex.DecodeString(m.SHA256)
	if err != nil || len(sum) != sha256.Size || m.URI == "" || m.Size < 0 {
		return errors.New("the model is not pinned by its SHA-256")
	}
	return nil
}

// readModel reads an object of at most limit bytes. It is read once, and the job goes on
// with what was read: nobody minds if the object changes later.
func readModel(ctx context.Context, store objstore.Store, uri, name string, limit int64) ([]byte, error) {
	body, info, err := store.Get(ctx, name, objstore.GetOptions{})
	switch {
	case errors.Is(err, objstore.ErrNotFound):
		return nil, modelFault(protocol.CodeInputEmpty, uri, "there is no such object", "Check spec.model")
	case err != nil:
		return nil, dataset.StoreFault(uri, err)
	}
	defer body.Close()
	if info.Size > limit {
		return nil, modelFault(protocol.CodeStateTooBig, uri,
			fmt.Sprintf("the model has %d bytes; max_state_bytes is %d", info.Size, limit),
			"Raise run.max_state_bytes.")
	}
	data, err := io.ReadAll(io.LimitReader(body, info.Size+1))
	if err != nil {
		return nil, dataset.StoreFault(uri, err)
	}
	return data, nil
}

func modelFault(code protocol.Code, uri, what, hint string) error {
	return protocol.InputFault(code, "%s", what).In(uri).WithHint(hint)
}

// ofModel names the model that a fault is of.
func ofModel(uri string, err error) error {
	var fault *protocol.Fault
	if errors.As(err, &fault) && fault.Object == "" {
		fault.Object = uri
	}
	return err
}
