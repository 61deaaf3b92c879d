// Package cursor walks long lists page by page: it seals the place where a page ended into a text that
// the client hands back, and merges sorted sources into one page.
//
// A cursor is readable but not forgeable. The package must never hand out a place that it did not seal
// itself, with the same secret, for the same list.
package cursor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/go-json-experiment/json"
)

// tagBytes is how much of the HMAC a cursor carries: 128 bits, which nobody guesses.
const tagBytes = 16

// sealed is what stands in a cursor: the members of the position and the tag.
type sealed[P any] struct {
	Position P      `json:",embed"`
	Tag      []byte `json:"tag"`
}

// Encode gives the cursor for a position: base64 of its JSON members and a tag. The binding says which
// list the position is a place in (account, window, filters, direction); only Decode with an equal
// secret and binding will take the cursor. P is a struct of JSON members other than tag; Encode panics
// when it cannot be written as JSON.
func Encode[P any](secret []byte, binding string, position P) string {
	text, err := json.Marshal(sealed[P]{position, tag(secret, binding, must(json.Marshal(position)))})
	return base64.StdEncoding.EncodeToString(must(text, err))
}

// Decode gives back the position that Encode sealed; ok is false for any other text, be it of another
// list, another secret, or changed in a single bit.
func Decode[P any](secret []byte, binding, text string) (position P, ok bool) {
	document, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return position, false
	}
	var read sealed[P]
	if json.Unmarshal(document, &read) != nil {
		return position, false
	}
	// Base64 and JSON have many spellings of one value. Only ours is good, and it is found by spelling
	// the position again, so that nothing of the text escapes the comparison.
	if !hmac.Equal([]byte(Encode(secret, binding, read.Position)), []byte(text)) {
		return position, false
	}
	return read.Position, true
}

// tag authenticates binding and position. The length in front keeps the end of one from being read as
// the beginning of the other.
func tag(secret []byte, binding string, position []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(binding))))
	mac.Write([]byte(binding))
	mac.Write(position)
	return mac.Sum(nil)[:tagBytes]
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}
