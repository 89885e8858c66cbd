package objstoretest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/gram-compute/gram/objstore"
)

func testOddKeys(t *testing.T, s suite) {
	odd := []string{
		" leading and trailing ", "a b", "a+b", "a%2Fb", "a%", "%41", "ä/ö", "日本語.tsv", "e\u0301", "é",
		"q?x=1&y=2", "f#g", "~", "-", "_", "'\"", "<&>", "(x)", "[y]{z}", "*", "a,b;c=d", "$1", "!", "@",
		".hidden", "..two", "...", "dir.with.dots/x.", "UPPER", "upper", "a:b", "a|b", "a^b`c", "a\\b",
		strings.Repeat("l", 200) + "/" + strings.Repeat("m", 200),
	}
	for _, key := range odd {
		put(t, s, key, []byte(key))
	}
	for _, key := range odd {
		got, info := mustGet(t, s, key, objstore.GetOptions{})
		if string(got) != key || info.Key != key {
			t.Errorf("key %q holds %q, called %q", key, got, info.Key)
		}
		if listed := keys(list(t, s, key)); !slices.Contains(listed, key) {
			t.Errorf("list %q gives %q", key, listed)
		}
	}
	slices.Sort(odd)
	if got := keys(list(t, s, "")); !slices.Equal(got, odd) {
		t.Errorf("list gives\n%q, want\n%q", got, odd)
	}
	for _, key := range odd {
		if err := s.Delete(t.Context(), key); err != nil {
			t.Errorf("delete %q: %v", key, err)
		}
	}
	if left := keys(list(t, s, "")); len(left) != 0 {
		t.Errorf("left after deletion: %q", left)
	}
}

func testInvalidKeys(t *testing.T, s suite) {
	for _, key := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", "./a", "a/./b",
		"a\x00b", "a\nb", "\xff", "a/\xc3", strings.Repeat("k", objstore.MaxKeyBytes+1),
	} {
		_, err := s.Put(t.Context(), key, []byte("x"))
		wantErr(t, fmt.Sprintf("put %q", key), err, objstore.ErrInvalidKey)
		_, _, err = s.Get(t.Context(), key, objstore.GetOptions{})
		wantErr(t, fmt.Sprintf("get %q", key), err, objstore.ErrInvalidKey)
		_, err = s.Stat(t.Context(), key)
		wantErr(t, fmt.Sprintf("stat %q", key), err, objstore.ErrInvalidKey)
		wantErr(t, fmt.Sprintf("delete %q", key), s.Delete(t.Context(), key), objstore.ErrInvalidKey)
	}
	for _, prefix := range []string{"/", "//", "a//", "../", "a/../", "\xff"} {
		var err error
		for _, err = range s.List(t.Context(), prefix) {
		}
		wantErr(t, fmt.Sprintf("list %q", prefix), err, objstore.ErrInvalidKey)
	}
	if left := list(t, s, ""); len(left) != 0 {
		t.Errorf("something was stored: %v", left)
	}
}

func testParentClash(t *testing.T, s suite) {
	if s.parentsUnnoticed {
		t.Skip("this store does not notice")
	}
	put(t, s, "a/b", []byte("child"))
	put(t, s, "c", []byte("parent"))
	put(t, s, "d/e/f", []byte("grandchild"))
	for _, key := range []string{"a", "c/x", "c/x/y", "d", "d/e"} {
		_, err := s.Put(t.Context(), key, []byte("no"))
		wantErr(t, "put "+key, err, objstore.ErrInvalidKey)
	}
	if got := fmt.Sprint(keys(list(t, s, ""))); got != "[a/b c d/e/f]" {
		t.Errorf("the store holds %s", got)
	}
}

// testListOrder: byte order of whole keys is not the order of a walk through
// folders, because '-', '.' and ' ' come before '/'.
func testListOrder(t *testing.T, s suite) {
	want := []string{"Z", "a b", "a-b", "a-b/c", "a.b", "a/b", "a/b-c", "a/b.c", "a0", "aa", "b", "ä", "日"}
	for _, key := range []string{"b", "日", "a/b.c", "aa", "a0", "a/b", "Z", "a.b", "a/b-c", "ä", "a b"} {
		put(t, s, key, []byte(key))
	}
	put(t, s, "a-b/c", []byte("x"))
	want = slices.DeleteFunc(want, func(k string) bool { return k == "a-b" })
	if !slices.IsSorted(want) {
		t.Fatal("the expectation itself is out of order")
	}
	if got := keys(list(t, s, "")); !slices.Equal(got, want) {
		t.Errorf("list gives\n%q, want\n%q", got, want)
	}
}

func testListPrefix(t *testing.T, s suite) {
	for _, key := range []string{"a/1", "a/2", "a/2x/3", "ab", "b/1"} {
		put(t, s, key, []byte(key))
	}
	for prefix, want := range map[string]string{
		"": "[a/1 a/2 a/2x/3 ab b/1]", "a": "[a/1 a/2 a/2x/3 ab]", "a/": "[a/1 a/2 a/2x/3]", "a/2": "[a/2 a/2x/3]",
		"a/2x": "[a/2x/3]", "a/2x/": "[a/2x/3]", "a/2x/3": "[a/2x/3]", "a/2x/3/": "[]", "ab/": "[]", "c": "[]",
		"a/.": "[]",
	} {
		if got := fmt.Sprint(keys(list(t, s, prefix))); got != want {
			t.Errorf("list %q gives %s, want %s", prefix, got, want)
		}
	}
	for info, err := range s.List(t.Context(), "") { // a caller may stop
		if err != nil || info.Key != "a/1" {
			t.Errorf("the first is %v, %v", info, err)
		}
		break
	}
}

// testListMany needs more than one page of an S3 listing.
func testListMany(t *testing.T, s suite) {
	const n = 1100
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("many/%d/%d", i%7, i))
	}
	putAll(t, s, want)
	slices.Sort(want)
	if got := keys(list(t, s, "many/")); !slices.Equal(got, want) {
		t.Errorf("listed %d keys, want %d, in order", len(got), n)
	}
}

// testListAgainstModel compares with a sorted map over random short keys of few
// letters, where prefixes, parents and separators meet in every way.
func testListAgainstModel(t *testing.T, s suite) {
	rng := rand.New(rand.NewPCG(1, 2))
	model := map[string]bool{}
	for range 60 {
		key := randomKey(rng)
		if clashes(model, key) {
			if s.parentsUnnoticed {
				continue
			}
			_, err := s.Put(t.Context(), key, []byte(key))
			wantErr(t, "put "+key, err, objstore.ErrInvalidKey)
			continue
		}
		put(t, s, key, []byte(key))
		model[key] = true
	}
	prefixes := []string{"", "a", "a/", "a-", "-", "a/a", "b/-", "b/a/"}
	for _, prefix := range prefixes {
		want := slices.DeleteFunc(slices.Sorted(maps.Keys(model)),
			func(k string) bool { return !strings.HasPrefix(k, prefix) })
		if got := keys(list(t, s, prefix)); !slices.Equal(got, want) {
			t.Errorf("list %q gives\n%q, want\n%q", prefix, got, want)
		}
	}
}

func randomKey(rng *rand.Rand) string {
	var segments []string
	for range 1 + rng.IntN(3) {
		segment := make([]byte, 1+rng.IntN(2))
		for i := range segment {
			segment[i] = "ab-"[rng.IntN(3)]
		}
		segments = append(segments, string(segment))
	}
	return strings.Join(segments, "/")
}

func clashes(model map[string]bool, key string) bool {
	for other := range model {
		if strings.HasPrefix(other, key+"/") || strings.HasPrefix(key, other+"/") {
			return true
		}
	}
	return false
}

func putAll(t *testing.T, s objstore.Store, keys []string) {
	t.Helper()
	var g errgroup.Group
	g.SetLimit(16)
	for _, key := range keys {
		g.Go(func() error {
			_, err := s.Put(t.Context(), key, []byte(key))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}
