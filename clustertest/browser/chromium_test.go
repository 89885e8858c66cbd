package browser

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// missing skips a test for what is not installed, and fails it where that is required.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("REQUIRE_CHROMIUM") != "" {
		t.Fatal(what + ", and REQUIRE_CHROMIUM is set")
	}
	t.Skip(what + ": the pages are not looked at")
}

func findChromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"} {
		if file, err := exec.LookPath(name); err == nil {
			return file
		}
	}
	missing(t, "no chromium is on the PATH")
	return ""
}

// startChromium starts a browser that trusts the certificates in a file, and no others, until the test ends.
func startChromium(t *testing.T, certificates string) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(findChromium(t)),
		chromedp.UserDataDir(t.TempDir()), chromedp.DisableGPU, chromedp.Flag("lang", "en-US"),
		chromedp.Flag("ignore-certificate-errors-spki-list", keysIn(t, certificates)),
		chromedp.Flag("font-render-hinting", "none"))
	if os.Geteuid() == 0 { // its sandbox is not for root
		options = append(options, chromedp.NoSandbox)
	}
	ctx, end := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	ctx, cancel := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		cancel()
		end()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	return ctx
}

// keysIn lists the digests of the public keys in a file of certificates, as Chromium takes them.
func keysIn(t *testing.T, file string) string {
	t.Helper()
	rest, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
		keys = append(keys, base64.StdEncoding.EncodeToString(sum[:]))
	}
	return strings.Join(keys, ",")
}
