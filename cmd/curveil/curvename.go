package main

// What a track is called in the ledger. The releases of one track must add up, so its name must not depend on which other tracks the
// call holds, nor on their order: it is that of the file, and where a file holds several tracks, of the file and
// the track.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/curveil/curveil/dataset"
	"github.com/curveil/curveil/ledger"
)

// identify names all tracks.
func (j *curveJob) identify(ctx context.Context) error {
	of := map[string]int{}
	for _, t := range j.tracks {
		of[t.File]++
	}
	j.names = nil
	for _, t := range j.tracks {
		name, err := j.identity(ctx, t, of[t.File])
		if err != nil {
			return err
		}
		j.names = append(j.names, name)
	}
	return nil
}

// identity is the name of a track of a file of n. A file that held several tracks before and now has one, or the other way
// round, must not give a track a second name.
func (j *curveJob) identity(ctx context.Context, t *dataset.Track, n int) (string, error) {
	file := j.file
	if file != "-" {
		file = t.File
	}
	whole := j.budget.Name(file)
	if j.budget.Dataset != "" {
		return whole, nil
	}
	name := strings.Join(strings.Fields(t.Name), " ")
	full := whole + "/" + name
	switch {
	case n == 1:
		if known, err := j.known(ctx, full); err != nil || name == "" || !known {
			return whole, err
		}
		return full, nil
	case name == "":
		return "", usagef("%s holds %d tracks, of which number %d has no name or id, so that the ledger could not know it again: give --id where a column tells them apart, put each into a file of its own, or give --dataset NAME, to which all of them are then debited, one after the other", file, n, t.Number)
	}
	known, err := j.known(ctx, whole)
	if err != nil {
		return "", err
	}
	if known {
		return "", usagef("the ledger has data set %q, of a call in which %s held one track: now it holds %d, and which of them that was is not known; give --dataset NAME, to which all of them are then debited, or put each into a file of its own", whole, file, n)
	}
	return full, nil
}

// known tells whether the ledger has a data set of curves of this name.
func (j *curveJob) known(ctx context.Context, name string) (bool, error) {
	if j.book == nil {
		return false, nil
	}
	s, err := j.book.Show(ctx, name)
	var unknown *ledger.UnknownError
	if errors.As(err, &unknown) {
		return false, nil
	}
	return err == nil && s.Terms.Currency != ledger.GDP, err
}

func (j *curveJob) oneName() bool {
	return !slices.ContainsFunc(j.names, func(name string) bool { return name != j.names[0] })
}

// debited says which data sets the tracks are debited to.
func (j *curveJob) debited() string {
	names := slices.Compact(slices.Sorted(slices.Values(j.names)))
	if len(names) == 1 {
		return fmt.Sprintf("%d debits on data set %q, which add up", len(j.names), names[0])
	}
	text := fmt.Sprintf("%d debits on %d data sets", len(j.names), len(names))
	if len(names) <= 3 {
		return fmt.Sprintf("%s, %q", text, names)
	}
	return fmt.Sprintf("%s, from %q to %q; 'curveil ledger show' lists them", text, names[0], names[len(names)-1])
}
