package web

import "testing"

func TestTexts(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{moment(0), ""}, {moment(1_000), "1970-01-01 00:00:01 UTC"},
		{size(0), "0 B"}, {size(1536), "1.5 KiB"}, {size(5 << 30), "5 GiB"}, {size(1 << 60), "1.049e+06 TiB"},
		{digest([]byte{0xab, 0xcd}), "abcd"}, {digest(make([]byte, 32)), "000000000000"},
		{oneLine("a\r\nb"), "a  b"}, {string(breaks("a.<b>.c")), "a.<wbr>&lt;b&gt;.<wbr>c"}, {ulps(5), "5"},
		{ulps(1 << 60), "1.15e+18"}, {day(60_000), "1970-01-01 00:01"},
		{local("/jobs/x?y=1"), "/jobs/x?y=1"}, {local("//x"), "/jobs"}, {local("/a\r\nb"), "/jobs"}, {local("x"), "/jobs"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
