package listing

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"

	pb "github.com/gram-compute/gram/protocol/gramv1"
	"google.golang.org/protobuf/proto"
)

// token is what a page token holds: where the page before ended, in which list.
type token struct {
	Of    string `json:"of"`
	Now   int64  `json:"now"`
	After place  `json:"after"`
}

var (
	errToken = errors.New("page_token is not one that List returned")
	errOther = errors.New("page_token is of a list with another filter or order: ask for its first page")
)

func (q *Query) token(last place) string {
	text, err := json.Marshal(token{Of: q.digest, Now: q.now, After: last})
	if err != nil {
		panic(err) // numbers and valid text can be written
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// continued is the query for the page after a token's.
func (q Query) continued(text string) (Query, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return q, errToken
	}
	var t token
	in := json.NewDecoder(bytes.NewReader(raw))
	in.DisallowUnknownFields()
	if err := in.Decode(&t); err != nil || t.After.Number == 0 {
		return q, errToken
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return q, errToken
	}
	if t.Of != q.digest {
		return q, errOther
	}
	q.now, q.after = t.Now, &t.After
	return q, nil
}

// digestOf tells lists with another filter or order apart.
func digestOf(q Query) string {
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(
		&pb.ListRequest{Filter: q.filter, Order: q.order, Ascending: q.ascending})
	if err != nil {
		panic(err) // the request came as valid text
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
