// Package browser looks at the live pages of a cluster of processes with a headless Chromium: flows of a person, what
// axe-core finds, the keyboard, a phone, texts made to do harm, and pictures. All of it is tests.
//
// Without a chromium on the PATH, and for axe without bin/axe.min.js (`make tools`), they are skipped, unless
// REQUIRE_CHROMIUM is set.
package browser
