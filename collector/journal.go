package collector

import (
	"context"
	"errors"
)

// journal is the durable log: numbered messages from 1, never changed.
type journal interface {
	// append writes the message after the one with number after, and returns when it is on stable storage. errMoved says
	// that the log ends elsewhere; errUnsure that the message may be there or not, or come later; errFull that there is no
	// room and nothing was written. After any other error the log is not to be trusted before it is opened anew.
	append(ctx context.Context, message []byte, after uint64) error
	// read calls do for the messages after number after, up to the end that the log has when read is called, and returns
	// the number at the end.
	read(ctx context.Context, after uint64, do func(seq uint64, message []byte) error) (last uint64, err error)
	// message returns one message.
	message(ctx context.Context, seq uint64) ([]byte, error)
	// bounds are the numbers of the first and the last message, 0 for an empty log.
	bounds(ctx context.Context) (first, last uint64, err error)
	// trim removes the messages before the number.
	trim(ctx context.Context, before uint64) error
	// size is what the log takes, in bytes.
	size(ctx context.Context) (uint64, error)
	// largest is the size of the largest message.
	largest() int
	// shared says that others may write to the log.
	shared() bool
	close()
}

var (
	errMoved  = errors.New("collector: another collector has written to the log")
	errUnsure = errors.New("collector: the log did not answer")
	errFull   = errors.New("collector: the log has no room left: make room, or raise its limit")
)
