package copydb

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
)

// Sum is a checksum of rows that depends neither on their order nor on the engine: the sum of 128 bits of the SHA-256 of
// each row. It finds mistakes; it is no protection from a forger.
type Sum [2]uint64

func (s Sum) String() string { return fmt.Sprintf("%016x%016x", s[0], s[1]) }

// add adds a row. Each value is written with its type and length, so that no two rows are written alike.
func (s *Sum) add(values []any) {
	var space [512]byte
	text := space[:0]
	for _, value := range values {
		text = written(text, value)
	}
	h := sha256.Sum256(text)
	s[0] += binary.BigEndian.Uint64(h[:8])
	s[1] += binary.BigEndian.Uint64(h[8:16])
}

func written(to []byte, value any) []byte {
	switch v := value.(type) {
	case int64:
		return binary.BigEndian.AppendUint64(append(to, 'i'), uint64(v)) //nolint:gosec // the bits are kept
	case string:
		return append(binary.BigEndian.AppendUint64(append(to, 't'), uint64(len(v))), v...)
	case bool:
		if v {
			return append(to, 'b', 1)
		}
		return append(to, 'b', 0)
	case []byte:
		return append(binary.BigEndian.AppendUint64(append(to, 'x'), uint64(len(v))), v...)
	case float64:
		return binary.BigEndian.AppendUint64(append(to, 'f'), math.Float64bits(v))
	}
	return append(to, 'n')
}
