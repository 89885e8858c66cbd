package attestation

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gram-compute/gram/protocol"
)

// PayloadType is the payload type of an envelope around an in-toto statement.
const PayloadType = "application/vnd.in-toto+json"

// MaxBytes bounds a file of signatures, in bytes.
const MaxBytes = 16 << 20

// Envelope is a DSSE envelope (github.com/secure-systems-lab/dsse, version 1.0): bytes with a type and signatures.
type Envelope struct {
	Payload     string      `json:"payload"` // base64
	PayloadType string      `json:"payloadType"`
	Signatures  []Signature `json:"signatures"`
}

// Signature is one signature of an envelope.
type Signature struct {
	Sig   string `json:"sig"`   // base64
	KeyID string `json:"keyid"` // a hint, which is not signed
}

// PAE is the pre-authentication encoding of DSSE: what is signed, in place of the payload alone.
func PAE(payloadType string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// seal signs a payload. The envelope carries the key's identifier if named.
func seal(payload []byte, key *PrivateKey, named bool) (Envelope, error) {
	signature, err := key.sign(PAE(PayloadType, payload))
	if err != nil {
		return Envelope{}, fmt.Errorf("sign: %w", err)
	}
	s := Signature{Sig: base64.StdEncoding.EncodeToString(signature)}
	if named {
		s.KeyID = key.public.id
	}
	return Envelope{
		Payload: base64.StdEncoding.EncodeToString(payload), PayloadType: PayloadType, Signatures: []Signature{s},
	}, nil
}

// open returns the payload if its one signature is by the key.
func (e Envelope) open(key PublicKey) ([]byte, error) {
	if e.PayloadType != PayloadType {
		return nil, fmt.Errorf("its payload is %.60q, not %s", e.PayloadType, PayloadType)
	}
	if len(e.Signatures) != 1 {
		return nil, fmt.Errorf("it has %d signatures, not one", len(e.Signatures))
	}
	payload, err := decode64(e.Payload)
	if err != nil {
		return nil, fmt.Errorf("its payload is not base64: %w", err)
	}
	signature, err := decode64(e.Signatures[0].Sig)
	if err != nil {
		return nil, fmt.Errorf("its signature is not base64: %w", err)
	}
	if !key.verifies(PAE(e.PayloadType, payload), signature) {
		return nil, errors.New("the signature is not the key's over this payload")
	}
	return payload, nil
}

// decode64 reads base64 of one form only: encoding/base64 skips line breaks, even where it is strict.
func decode64(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("a line break")
	}
	return base64.StdEncoding.Strict().DecodeString(text)
}

// readExactly decodes JSON whose bytes are exactly those that writing the value again gives: other cases of names,
// names that stand twice, spaces and line breaks in base64 are refused, so that no two files mean the same.
func readExactly(data []byte, into any) error {
	if len(data) > MaxBytes {
		return corrupt(fmt.Errorf("%d bytes; at most %d are read", len(data), MaxBytes))
	}
	if err := protocol.StrictDecode(data, into); err != nil {
		return corrupt(err)
	}
	again, err := encode(into)
	if err != nil {
		return corrupt(err)
	}
	if !bytes.Equal(again, data) {
		return corrupt(errors.New("its JSON is not in the form in which it is written"))
	}
	return nil
}

// encode writes compact JSON without escapes for HTML, as other tools do.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a signature: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

func corrupt(err error) error {
	return protocol.TaskFault(protocol.CodeCorrupt, "the signature cannot be read").Because(err)
}
