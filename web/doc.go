// Package web is the live pages of a cluster: HTML that is rendered here, from what calls of the services answer. See
// docs/adr/0038-pages-call-the-services.md.
package web
