package dataset

import (
	"encoding/binary"
	"fmt"
)

// Samples of WFDB signal files (PhysioNet, signal(5)): frame by frame, in a
// frame signal by signal, whole numbers of a converter.

// wfdbWidth returns the bits of a sample, 0 of a format that is not read.
func wfdbWidth(format int) int64 {
	switch format {
	case 80: // offset binary
		return 8
	case 212: // pairs in three bytes
		return 12
	case 16, 61, 160: // little-endian, big-endian, offset binary
		return 16
	case 24:
		return 24
	case 32:
		return 32
	}
	return 0
}

// wfdbInvalid is the sample that stands for none: the lowest.
func wfdbInvalid(format int) int32 { return int32(-1 << (wfdbWidth(format) - 1)) }

// wfdbSample returns sample i of a file.
func wfdbSample(format int, b []byte, i int) int32 {
	switch format {
	case 80:
		return int32(b[i]) - 128
	case 212:
		k := i / 2 * 3
		if i%2 == 0 {
			return int32(uint32(b[k])<<20|uint32(b[k+1])<<28) >> 20
		}
		return int32(uint32(b[k+2])<<20|uint32(b[k+1]>>4)<<28) >> 20
	case 16:
		return int32(int16(binary.LittleEndian.Uint16(b[2*i:])))
	case 61:
		return int32(int16(binary.BigEndian.Uint16(b[2*i:])))
	case 160:
		return int32(binary.LittleEndian.Uint16(b[2*i:])) - 1<<15
	case 24:
		return int32(uint32(b[3*i])<<8|uint32(b[3*i+1])<<16|uint32(b[3*i+2])<<24) >> 8
	default: // 32
		return int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
}

// decode cuts a file's samples up by signal and checks them against the header.
func (h *wfdbHeader) decode(samples [][]int32, group []wfdbSignal, path string, data []byte) error {
	first := group[0]
	dat := origin{file: path}
	frame := int64(0)
	for _, s := range group {
		if s.format != first.format {
			return h.fault(s.line, "", fmt.Sprintf("formats %d and %d in one file", first.format, s.format), "correct the header: the signals of a file have one format")
		}
		if s.offset != first.offset {
			return h.fault(s.line, "", fmt.Sprintf("offsets %d and %d in one file", first.offset, s.offset), "correct the header: the signals of a file have one offset")
		}
		frame += int64(s.perFrame)
	}
	if int64(len(data)) < first.offset {
		return dat.at(0, 0, "", fmt.Sprintf("the file has %d bytes, and its samples begin behind byte %d", len(data), first.offset), "was it cut off?")
	}
	data = data[first.offset:]
	width := wfdbWidth(first.format)
	have := int64(len(data)) * 8 / width
	if h.frames == 0 {
		if h.frames = have / frame; h.frames == 0 {
			return dat.at(0, 0, "", "the file has no whole frame of samples", "was it cut off?")
		}
	}
	// frames ≤ 2⁴⁰ and frame ≤ 2²⁰ a signal: compare by division.
	if have/frame < h.frames {
		return dat.at(0, 0, "", fmt.Sprintf("the file ends after %s of %d that the header announces", count(int(have/frame), "frame"), h.frames), "was it cut off, or is it the file of another record?")
	}
	n := h.frames * frame
	// A pair of format 212 may be filled up, and a tape's last block.
	spare := int64(len(data)) - (n*width+7)/8
	if spare > 0 && !(first.format == 212 && n%2 == 1 && spare == 1) && spare >= first.blockSize {
		return dat.at(0, 0, "", fmt.Sprintf("the file has %s more than the header announces (%s)", count(int(spare), "byte"), count(int(h.frames), "frame")), "correct the number of samples in the header, or is it the file of another record?")
	}
	for k, s := range group {
		samples[k] = make([]int32, 0, h.frames*int64(s.perFrame))
	}
	for i := 0; i < int(n); {
		for k, s := range group {
			for range s.perFrame {
				samples[k] = append(samples[k], wfdbSample(first.format, data, i))
				i++
			}
		}
	}
	for k, s := range group {
		if err := h.verify(s, samples[k], dat); err != nil {
			return err
		}
	}
	return nil
}

// verify compares the initial value and the 16-bit checksum of the header.
func (h *wfdbHeader) verify(s wfdbSignal, samples []int32, dat origin) error {
	const wrong = "the signals are damaged, or the header is of another record; get both again"
	if s.initial != nil && int64(samples[0]) != *s.initial {
		return dat.at(0, 0, "", fmt.Sprintf("signal %s begins with the sample %d, and the header (line %d) says %d", quote(s.name), samples[0], s.line, *s.initial), wrong)
	}
	if s.checksum == nil {
		return nil
	}
	sum := uint16(0)
	for _, v := range samples {
		sum += uint16(v)
	}
	if uint16(*s.checksum) != sum {
		return dat.at(0, 0, "", fmt.Sprintf("the checksum of signal %s is %d, and the header (line %d) says %d", quote(s.name), int16(sum), s.line, *s.checksum), wrong)
	}
	return nil
}
