// Package terminal decides what people see: color or not, a bar that is redrawn or
// plain lines, and tables, all within 80 columns. It knows nothing of jobs.
package terminal
