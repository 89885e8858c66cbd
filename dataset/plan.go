package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/gram-compute/gram/protocol"
)

// Bounds of the stored forms.
const (
	MaxManifestBytes = 512 << 20
	MaxPlanBytes     = 256 << 20
)

// MarshalManifest writes m as JSON, the same bytes for the same manifest.
func MarshalManifest(m Manifest) ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, StoredFault("manifest", err)
	}
	return json.Marshal(manifestJSON{m.URI, append(objectList{}, m.Objects...), m.Labels, m.IDs, m.Counted})
}

// UnmarshalManifest reads what MarshalManifest wrote, strictly: unknown fields, trailing
// data, unordered or unpinned objects and overflowing sizes are faults of
// CodeCorrupt. Objects are checked as they arrive.
func UnmarshalManifest(data []byte) (Manifest, error) {
	var m manifestJSON
	if err := DecodeStored(data, MaxManifestBytes, &m); err != nil {
		return Manifest{}, StoredFault("manifest", err)
	}
	if m.Objects == nil {
		return Manifest{}, StoredFault("manifest", errNoList)
	}
	read := Manifest{URI: m.URI, Objects: m.Objects, Labels: m.Labels, IDs: m.IDs,
		Counted: m.Counted}
	if err := read.check(); err != nil {
		return Manifest{}, StoredFault("manifest", err)
	}
	return read, nil
}

func (m Manifest) check() error {
	if err := checkObjects(m.Objects); err != nil {
		return err
	}
	for what, list := range m.companions() {
		if n := len(list); n > 0 && n != len(m.Objects) {
			return fmt.Errorf("%d objects of %s for %d objects", n, what, len(m.Objects))
		}
		if err := checkObjects(list); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return m.checkRows()
}

// companions are the objects of labels and ids.
func (m Manifest) companions() iter.Seq2[string, []Object] {
	return func(yield func(string, []Object) bool) {
		_ = yield("labels", m.Labels) && yield("ids", m.IDs)
	}
}

// checkRows compares counts of rows with what they can be: their sum numbers records.
func (m Manifest) checkRows() error {
	total := int64(0)
	for i, o := range m.Objects {
		if o.Rows < 0 || o.Rows > 0 && (!m.Counted || o.Size == 0) {
			return fmt.Errorf("object %d: %q has %d rows", i, o.Key, o.Rows)
		}
		if total += o.Rows; total < 0 {
			return fmt.Errorf("object %d: the rows add up to more than 2^63", i)
		}
	}
	for what, list := range m.companions() {
		if i := slices.IndexFunc(list, func(o Object) bool { return o.Rows != 0 }); i >= 0 {
			return fmt.Errorf("%s: object %d has %d rows", what, i, list[i].Rows)
		}
	}
	return nil
}

// MarshalPlan writes the shards of m as JSON, the same bytes for the same plan.
func MarshalPlan(m Manifest, shards []Shard) ([]byte, error) {
	if err := checkPlan(m, shards); err != nil {
		return nil, StoredFault("plan", err)
	}
	return json.Marshal(planJSON{append(shardList{}, shards...)})
}

// UnmarshalPlan reads what MarshalPlan wrote and checks it against the manifest: the
// pieces, in order, must cover every byte of every object exactly once. A fault of
// CodeCorrupt says where they do not.
func UnmarshalPlan(data []byte, m Manifest) ([]Shard, error) {
	var p planJSON
	if err := DecodeStored(data, MaxPlanBytes, &p); err != nil {
		return nil, StoredFault("plan", err)
	}
	if p.Shards == nil {
		return nil, StoredFault("plan", errNoList)
	}
	if err := checkPlan(m, p.Shards); err != nil {
		return nil, StoredFault("plan", err)
	}
	return p.Shards, nil
}

var errNoList = errors.New("the list is missing")

type manifestJSON struct {
	URI     string     `json:"uri"`
	Objects objectList `json:"objects"`
	Labels  objectList `json:"labels,omitempty"`
	IDs     objectList `json:"ids,omitempty"`
	Counted bool       `json:"counted,omitempty"`
}

type planJSON struct {
	Shards shardList `json:"shards"`
}

type objectList []Object

// UnmarshalJSON stops at the first senseless object, so that a short hostile text
// ("{},{},...") cannot become a long list.
func (l *objectList) UnmarshalJSON(data []byte) error {
	previous := ""
	*l = objectList{}
	return eachElement(data, MaxObjects, func(dec *json.Decoder) error {
		var o Object
		if err := dec.Decode(&o); err != nil {
			return err
		}
		if err := o.check(previous); err != nil {
			return err
		}
		previous = o.Key
		*l = append(*l, o)
		return nil
	})
}

type shardList []Shard

// UnmarshalJSON stops at the first senseless shard.
func (l *shardList) UnmarshalJSON(data []byte) error {
	*l = shardList{}
	return eachElement(data, MaxShards, func(dec *json.Decoder) error {
		var s struct {
			Pieces pieceList `json:"pieces"`
		}
		if err := dec.Decode(&s); err != nil {
			return err
		}
		if len(s.Pieces) == 0 {
			return errors.New("a shard without pieces")
		}
		*l = append(*l, Shard{Pieces: s.Pieces})
		return nil
	})
}

type pieceList []Piece

func (l *pieceList) UnmarshalJSON(data []byte) error {
	return eachElement(data, MaxPiecesPerShard, func(dec *json.Decoder) error {
		var p Piece
		if err := dec.Decode(&p); err != nil {
			return err
		}
		if p.Object < 0 || p.Start < 0 || p.End <= p.Start {
			return fmt.Errorf("the piece [%d, %d) of object %d is not a range", p.Start, p.End, p.Object)
		}
		*l = append(*l, p)
		return nil
	})
}

// checkPlan walks the plan once: each piece must begin where the last one ended.
func checkPlan(m Manifest, shards []Shard) error {
	object, at := nextObject(m, 0), int64(0)
	for i, s := range shards {
		if len(s.Pieces) == 0 || len(s.Pieces) > MaxPiecesPerShard {
			return fmt.Errorf("shard %d has %d pieces", i, len(s.Pieces))
		}
		for _, p := range s.Pieces {
			if p.Object != object || object == len(m.Objects) || p.Start != at || p.End <= at ||
				p.End > m.Objects[object].Size {
				return fmt.Errorf("shard %d: the piece [%d, %d) of object %d does not follow byte %d of object %d",
					i, p.Start, p.End, p.Object, at, object)
			}
			if at = p.End; at == m.Objects[object].Size {
				object, at = nextObject(m, object+1), 0
			}
		}
	}
	if object != len(m.Objects) {
		return fmt.Errorf("nothing reads object %d from byte %d on", object, at)
	}
	return nil
}

// nextObject is the first object from i on that has bytes.
func nextObject(m Manifest, i int) int {
	for i < len(m.Objects) && m.Objects[i].Size == 0 {
		i++
	}
	return i
}

func eachElement(data []byte, limit int, decode func(*json.Decoder) error) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if token, err := dec.Token(); err != nil || token != json.Delim('[') {
		return errNoList
	}
	for i := 0; dec.More(); i++ {
		if i == limit {
			return fmt.Errorf("more than %d elements", limit)
		}
		if err := decode(dec); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	_, err := dec.Token()
	return err
}

// DecodeStored reads the JSON of a stored object: one value of known fields, in at most limit bytes.
func DecodeStored(data []byte, limit int, into any) error {
	if len(data) > limit {
		return fmt.Errorf("%d bytes; at most %d are read", len(data), limit)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more data follows the value")
	}
	return nil
}

// StoredFault says that a stored object ("manifest", "plan") cannot be used.
func StoredFault(object string, err error) error {
	return protocol.TaskFault(protocol.CodeCorrupt, "the stored %s cannot be used", object).In(object).
		Because(err)
}
