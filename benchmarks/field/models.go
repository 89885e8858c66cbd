package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// modelFiles are what counts as the model that a tool made, by job: the first pattern that something matches. Of k-NN
// it is the neighbors found, as row numbers. Reports and provenance, which name the time and the files, are no part.
var modelFiles = map[string][]string{
	"kmeans": {"*/model.safetensors", "centers.npy"},
	"bayes":  {"*/model.safetensors", "model.npy"},
	"svm":    {"*/model.safetensors", "weights.npy"},
	"knn":    {"*/indices/*.npy", "neighbors.npy"},
}

// modelOf is the SHA-256 of the model in a folder.
func modelOf(job, out string) (string, error) {
	for _, pattern := range modelFiles[job] {
		files, err := filepath.Glob(filepath.Join(out, pattern))
		if err != nil {
			return "", err
		}
		if len(files) > 0 {
			slices.Sort(files)
			return digestOf(files)
		}
	}
	return "", fmt.Errorf("%s: no model is in %s", job, out)
}

func digestOf(files []string) (string, error) {
	h := sha256.New()
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(h, file)
		if closed := file.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// different counts the different models of runs, those of failed ones left out, and the runs that made one. Of each
// setting the first runs count, so that one that was timed more often has no more chances.
func different(samples []sample, size string, runs int) (models, of int) {
	seen, made := map[string]bool{}, map[setting]int{}
	for _, s := range samples {
		if s.Failed != "" || s.Size != size || made[s.setting] == runs {
			continue
		}
		made[s.setting]++
		of++
		seen[s.Model] = true
	}
	return len(seen), of
}
