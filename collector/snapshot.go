// Snapshots of the fold, so that a restart need not read the whole log. A snapshot is
//
//	"curveil-collector-2\n" · seq · SHA-256 of message seq · number of streams · streams · CRC-32C
//	stream: length · Definition JSON · length · snapshot of the regression.Server · closed · number of invitations ·
//	        (SHA-256 · expiry · used)…, in the order of the hashes
//
// (version 1 had no "closed"; it is read still.)
//
// numbers being little-endian 64-bit words and the checksum 4 bytes. File: snapshots/<seq, 20 digits>.snapshot; the last two
// are kept.

package collector

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/curveil/curveil/regression"
)

const (
	snapshotMagic  = "curveil-collector-2\n"
	snapshotFirst  = "curveil-collector-1\n"
	snapshotSuffix = ".snapshot"
	snapshotsKept  = 2
)

func (f *fold) marshal() ([]byte, error) {
	b := append([]byte(nil), snapshotMagic...)
	word := func(v uint64) { b = binary.LittleEndian.AppendUint64(b, v) }
	word(f.seq)
	b = append(b, f.last[:]...)
	word(uint64(len(f.streams)))
	for _, s := range f.streams {
		state, err := s.server.MarshalBinary()
		if err != nil {
			return nil, err
		}
		for _, part := range [][]byte{s.text, state} {
			word(uint64(len(part)))
			b = append(b, part...)
		}
		word(bit(s.closed))
		word(uint64(len(s.invitations)))
		hashes := make([]tokenHash, 0, len(s.invitations))
		for h := range s.invitations {
			hashes = append(hashes, h)
		}
		slices.SortFunc(hashes, func(x, y tokenHash) int { return bytes.Compare(x[:], y[:]) })
		for _, h := range hashes {
			b = append(b, h[:]...)
			word(uint64(s.invitations[h].expires))
			word(bit(s.invitations[h].used))
		}
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

func unmarshalFold(data []byte) (*fold, error) {
	first := bytes.HasPrefix(data, []byte(snapshotFirst))
	if len(data) < len(snapshotMagic)+4 || !first && string(data[:len(snapshotMagic)]) != snapshotMagic {
		return nil, fmt.Errorf("not a snapshot of this version of curveil")
	}
	body := data[:len(data)-4]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(data[len(body):]) {
		return nil, fmt.Errorf("damaged (checksum)")
	}
	p := parser{data: body[len(snapshotMagic):]}
	word := func() uint64 {
		if b := p.take(8); b != nil {
			return binary.LittleEndian.Uint64(b)
		}
		return 0
	}
	f := newFold()
	f.seq = word()
	copy(f.last[:], p.take(uint64(len(f.last))))
	for range min(word(), maxStreams+1) {
		text := p.take(word())
		state := p.take(word())
		if p.bad {
			break
		}
		d, err := readDefinition(text)
		if err != nil {
			return nil, err
		}
		v := new(regression.Server)
		if err := v.UnmarshalBinary(state); err != nil {
			return nil, err
		}
		want, err := d.Stream.Fingerprint()
		if err != nil || v.Fingerprint() != want {
			return nil, fmt.Errorf("its streams contradict each other")
		}
		if err := f.add(d, text, v); err != nil {
			return nil, err
		}
		s := f.streams[len(f.streams)-1]
		if !first {
			s.closed = word() == 1
		}
		for range word() {
			var h tokenHash
			copy(h[:], p.take(uint64(len(h))))
			i := &invitation{expires: int64(word()), used: word() == 1}
			if p.bad {
				break
			}
			s.invitations[h] = i
		}
	}
	if p.bad || len(p.data) > 0 {
		return nil, fmt.Errorf("its length contradicts its content")
	}
	return f, nil
}

// snapshotFiles are the folder's snapshots, the newest first.
func snapshotFiles(folder string) []string {
	names, _ := filepath.Glob(filepath.Join(folder, "snapshots", "*"+snapshotSuffix))
	slices.Sort(names)
	slices.Reverse(names)
	return names
}

// save writes a snapshot and, where the log is to be trimmed, drops from it the messages before the older of the two newest
// snapshots, having read both back. The message of a snapshot stays: the snapshot is recognised by it.
func (c *Collector) save(seq uint64, data []byte) error {
	if err := writeSnapshot(c.config.Folder, seq, data); err != nil {
		return err
	}
	c.saved.Store(seq)
	if !c.config.TrimLog {
		return nil
	}
	files := snapshotFiles(c.config.Folder)
	if len(files) < snapshotsKept {
		return nil
	}
	oldest := seq
	for _, name := range files[:snapshotsKept] {
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("collector: the log is not trimmed: %w", err)
		}
		f, err := unmarshalFold(text)
		if err != nil {
			return fmt.Errorf("collector: the log is not trimmed: snapshot %s: %w", filepath.Base(name), err)
		}
		oldest = min(oldest, f.seq)
	}
	return c.log.trim(context.Background(), oldest)
}

func writeSnapshot(folder string, seq uint64, data []byte) error {
	dir := filepath.Join(folder, "snapshots")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("collector: snapshot: %w", err)
	}
	if err := writeFile(filepath.Join(dir, fmt.Sprintf("%020d%s", seq, snapshotSuffix)), data); err != nil {
		return fmt.Errorf("collector: snapshot: %w", err)
	}
	for i, name := range snapshotFiles(folder) {
		if i >= snapshotsKept {
			os.Remove(name)
		}
	}
	return nil
}

// restore returns the newest snapshot that can be read and calls reject for others; without any, the empty state.
func restore(folder string, logger *slog.Logger) *fold {
	for _, name := range snapshotFiles(folder) {
		data, err := os.ReadFile(name)
		if err == nil {
			var f *fold
			if f, err = unmarshalFold(data); err == nil {
				return f
			}
		}
		logger.Warn("snapshot passed over; the log is read instead", "file", filepath.Base(name), "error", err.Error())
	}
	return newFold()
}
