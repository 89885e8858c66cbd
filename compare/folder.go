package compare

import (
	"context"
	"fmt"
)

// Folder is the folder of a job's outputs.
type Folder struct {
	Name string // for people
	// Read reads a file, by its name below the folder.
	Read func(ctx context.Context, name string) ([]byte, error)
}

// Damaged is a file of a job's outputs that cannot be read as what it is.
type Damaged struct {
	Folder, File string
	Err          error
}

// Error names the folder and the file.
func (d *Damaged) Error() string { return fmt.Sprintf("%s of %s: %v", d.File, d.Folder, d.Err) }

// Unwrap is why.
func (d *Damaged) Unwrap() error { return d.Err }

// damaged says which file of the job cannot be used.
func (j *job) damaged(file string, err error) error { return &Damaged{j.folder.Name, file, err} }
