package estimate

import (
	"context"
	"io"
	"iter"
	"sync/atomic"

	"github.com/gram-compute/gram/objstore"
)

// Requests are what a store was asked for.
type Requests struct {
	Lists int64 `json:"lists"` // a listing may take several requests
	Heads int64 `json:"heads"`
	Gets  int64 `json:"gets"`
	Bytes int64 `json:"bytes"` // of what Gets returned
}

// meter counts what a store is asked for. Nothing writes through it.
type meter struct {
	objstore.Store
	lists, heads, gets, bytes atomic.Int64
}

func (m *meter) requests() Requests {
	return Requests{Lists: m.lists.Load(), Heads: m.heads.Load(), Gets: m.gets.Load(), Bytes: m.bytes.Load()}
}

func (m *meter) List(ctx context.Context, prefix string) iter.Seq2[objstore.Info, error] {
	m.lists.Add(1)
	return m.Store.List(ctx, prefix)
}

func (m *meter) Stat(ctx context.Context, key string) (objstore.Info, error) {
	m.heads.Add(1)
	return m.Store.Stat(ctx, key)
}

func (m *meter) Get(ctx context.Context, key string, opt objstore.GetOptions) (io.ReadCloser, objstore.Info, error) {
	m.gets.Add(1)
	body, info, err := m.Store.Get(ctx, key, opt)
	if err == nil {
		body = meteredBody{body, &m.bytes}
	}
	return body, info, err
}

type meteredBody struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (b meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.bytes.Add(int64(n))
	return n, err
}
