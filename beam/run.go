package beam

import (
	"context"
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.DoFn2x1[context.Context, []byte, error](&sealFn{})
}

// Job is one sum on a runner.
type Job struct {
	Verb   string // Mean or Density
	Source Source
	Config []byte // of the verb's package: Config.Encode
	Chunks []Chunk
	// Exchange is a folder that workers can write to and the driver can read: there
	// the sum lies, sealed to the driver's key, until the driver has read it.
	Exchange string
	Runner   string // "prism", "flink", "spark", "dataflow", …
}

const sealInfo = "curveil/beam/sum/1"

// sealFn leaves the sum where the driver finds it. Only the driver can read it. A
// retry writes the same sum again.
type sealFn struct {
	Key  []byte // X25519
	Path string
}

func (f *sealFn) ProcessElement(ctx context.Context, sum []byte) error {
	public, err := ecdh.X25519().NewPublicKey(f.Key)
	if err != nil {
		return err
	}
	key, err := hpke.NewDHKEMPublicKey(public)
	if err != nil {
		return err
	}
	sealed, err := hpke.Seal(key, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(sealInfo), sum)
	if err != nil {
		return err
	}
	fs, err := filesystem.New(ctx, f.Path)
	if err != nil {
		return err
	}
	defer fs.Close()
	w, err := fs.OpenWrite(ctx, f.Path)
	if err != nil {
		return fmt.Errorf("beam: a worker cannot write to the exchange folder: %w", err)
	}
	_, err = w.Write(sealed)
	return errors.Join(err, w.Close())
}

// Total is the sum over everybody. It is raw private data.
type Total struct {
	Sum []byte // the text that UnmarshalBinary of the verb's accumulator takes
	// Points of a density, and how many of them lie outside the box.
	Points, Outside int64
}

// Run runs the pipeline and returns the sum. Nothing is spent and nothing released.
func (j Job) Run(ctx context.Context) (*Total, error) {
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	path := join(j.Exchange, "curveil-"+strings.ToLower(rand.Text())+".sealed")
	p, s := beam.NewPipelineWithRoot()
	sum, err := Sum(s, j.Verb, j.Source, j.Config, j.Chunks)
	if err != nil {
		return nil, err
	}
	beam.ParDo0(s, &sealFn{Key: private.PublicKey().Bytes(), Path: path}, sum)
	if _, err := beam.Run(ctx, j.Runner, p); err != nil {
		remove(ctx, path)
		return nil, &Failure{Said(err.Error()), err}
	}
	defer remove(ctx, path)
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	r, err := fs.OpenRead(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("beam: the pipeline left no sum in the exchange folder: either nobody is in the files, or workers and driver do not share the folder: %w", err)
	}
	sealed, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	key, err := hpke.NewDHKEMPrivateKey(private)
	if err != nil {
		return nil, err
	}
	text, err := hpke.Open(key, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(sealInfo), sealed)
	if err != nil {
		return nil, fmt.Errorf("beam: %s was not written by this pipeline, or is cut: %w", path, err)
	}
	if len(text) == 0 {
		return nil, errors.New("beam: nobody is in the files: there is nothing to release")
	}
	points, text, err := cutCounts(text)
	if err != nil {
		return nil, err
	}
	return &Total{Sum: text, Points: points.of, Outside: points.outside}, nil
}

func join(folder, name string) string {
	if strings.Contains(folder, "://") {
		return strings.TrimSuffix(folder, "/") + "/" + name
	}
	return filepath.Join(folder, name)
}

func remove(ctx context.Context, path string) {
	if !strings.Contains(path, "://") {
		os.Remove(path)
		return
	}
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return
	}
	defer fs.Close()
	if r, ok := fs.(filesystem.Remover); ok {
		r.Remove(ctx, path) // what stays is sealed to a key that is gone
	}
}
