package main

// The flags of a pipeline, what is looked at before it, and its run.

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/spf13/cobra"

	"github.com/curveil/curveil/beam"
	"github.com/curveil/curveil/internal/flags"
)

// jobFlags are what a pipeline needs beside the flags of the core command.
type jobFlags struct {
	exchange    string
	chunk       int64
	deduplicate bool
	verbose     bool
}

func (j *jobFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&j.exchange, "exchange", "", "folder that workers can write to and this program can read, such as gs://bucket/tmp: the sum passes through it, encrypted (default where the workers are this process: a temporary one)")
	f.Int64Var(&j.chunk, "chunk", 64<<20, "bytes of a CSV file that one worker reads at a time; 0 reads files whole, for fields that hold line ends")
	f.BoolVar(&j.deduplicate, "deduplicate", false, "drop repeated rows: of one person, alike in time and values")
	f.BoolVar(&j.verbose, "verbose", false, "print what the runner says, in full")
}

func runner() string { return cmp.Or(*runners.Runner, "prism") }

// inside reports whether the runner and its workers are this process.
func (j *jobFlags) inside() bool {
	return strings.HasPrefix(strings.ToLower(runner()), "prism") && *jobopts.Endpoint == ""
}

// check refuses what no pipeline could serve, and makes this program its own worker
// where it can be: the SDK would compile one from sources, which need not be here.
func (j *jobFlags) check() error {
	if jobopts.IsLoopback() || j.inside() {
		return nil // the workers are this process
	}
	if j.exchange == "" {
		return flags.Usagef("--exchange is needed with --runner %s: a folder that workers can write to and this program can read", runner())
	}
	if *jobopts.WorkerBinary != "" {
		return nil
	}
	if runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
		return flags.Usagef("--worker_binary FILE is needed: curveil-beam of this version, built for the workers' system (CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build ./cmd/curveil-beam)")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	*jobopts.WorkerBinary = self
	return nil
}

// run runs the pipeline over the files.
func (j *jobFlags) run(cmd *cobra.Command, verb string, files []string, source beam.Source, config []byte) (*beam.Total, error) {
	ctx := cmd.Context()
	exchange := j.exchange
	if exchange == "" {
		dir, err := os.MkdirTemp("", "curveil-beam-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		exchange = dir
	}
	chunks, err := beam.Chunks(ctx, files, j.chunk)
	if err != nil {
		return nil, err
	}
	source.Deduplicate = j.deduplicate
	sdk.Init()
	j.listen(cmd.ErrOrStderr())
	total, err := beam.Job{Verb: verb, Source: source, Config: config, Chunks: chunks, Exchange: exchange, Runner: runner()}.Run(ctx)
	var failed *beam.Failure
	if j.verbose && errors.As(err, &failed) {
		fmt.Fprintln(cmd.ErrOrStderr(), failed.Runner)
	}
	return total, err
}

// header lists all files and opens the first: r holds its first lines when it is CSV.
func header(ctx context.Context, patterns []string, open func(path string, r io.Reader) error) error {
	chunks, err := beam.Chunks(ctx, patterns, 0)
	if err != nil {
		return err
	}
	path := chunks[0].Path
	if strings.EqualFold(filepath.Ext(path), ".parquet") {
		return open(path, nil)
	}
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer fs.Close()
	f, err := fs.OpenRead(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 1<<20)) // whole lines of the first megabyte
	if err != nil {
		return err
	}
	if i := bytes.LastIndexByte(head, '\n'); len(head) == 1<<20 && i > 0 {
		head = head[:i+1]
	}
	return open(path, bytes.NewReader(head))
}
