package verify

import (
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/objstore/mem"
	"github.com/gram-compute/gram/protocol"
)

// An object of records, labels or ids that was changed is missing and named.
func TestEveryObjectIsPinned(t *testing.T) {
	store := mem.New("m")
	in := &input{spec: protocol.Input{URI: "mem://m/x/", LabelsURI: "mem://m/y/", IDsURI: "mem://m/i/"}}
	pins := []struct {
		prefix  string
		objects *[]dataset.Object
	}{{"x/", &in.manifest.Objects}, {"y/", &in.manifest.Labels}, {"i/", &in.manifest.IDs}}
	for _, p := range pins {
		info, err := store.Put(t.Context(), p.prefix+"0.npy", []byte("planned"))
		if err != nil {
			t.Fatal(err)
		}
		*p.objects = []dataset.Object{{Key: "0.npy", Size: info.Size, ETag: info.ETag}}
	}
	missing := func() []Finding {
		v := &verifier{outputs: outputs{ledger: newLedger(nil)}}
		if err := v.checkAllPinned(t.Context(), store, in); err != nil {
			t.Fatal(err)
		}
		return v.result.Missing
	}
	if found := missing(); len(found) > 0 {
		t.Errorf("nothing was changed: %+v", found)
	}
	for _, p := range pins {
		(*p.objects)[0].Size++
		if found := missing(); len(found) != 1 || found[0].File != "0.npy" {
			t.Errorf("%s was changed: %+v", p.prefix, found)
		}
		(*p.objects)[0].Size--
	}
}
