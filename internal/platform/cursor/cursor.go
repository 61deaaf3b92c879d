// Package cursor pages long lists: it seals the position at which a page ended into a text that the client sends back,
// and merges sorted sources into one page.
//
// A cursor is readable but not forgeable. The package must never return a position that it did not seal itself, with
// the same secret, for the same list.
package cursor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/go-json-experiment/json"
)

// tagBytes is the length of the HMAC in a cursor: 128 bits, too many to guess.
const tagBytes = 16

// sealed is the content of a cursor: the members of the position and the tag.
type sealed[P any] struct {
	Position P      `json:",embed"`
	Tag      []byte `json:"tag"`
}

// Encode returns the cursor for a position: base64 of its JSON members and a tag. The binding identifies the list
// (account, window, filters, direction); only Decode with an equal secret and binding accepts the cursor. P is a
// struct of JSON members other than tag; Encode panics if it cannot be encoded as JSON.
func Encode[P any](secret []byte, binding string, position P) string {
	text, err := json.Marshal(sealed[P]{position, tag(secret, binding, must(json.Marshal(position)))})
	return base64.StdEncoding.EncodeToString(must(text, err))
}

// Decode returns the position that Encode sealed. ok is false for any other text, be it of another list, another
// secret, or changed in a single bit.
func Decode[P any](secret []byte, binding, text string) (position P, ok bool) {
	document, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return position, false
	}
	var read sealed[P]
	if json.Unmarshal(document, &read) != nil {
		return position, false
	}
	// Base64 and JSON have many spellings of one value. Only that of Encode is accepted: the position is encoded again
	// and compared, so that every byte of the text is checked.
	if !hmac.Equal([]byte(Encode(secret, binding, read.Position)), []byte(text)) {
		return position, false
	}
	return read.Position, true
}

// tag returns the HMAC of binding and position. The length in front keeps the end of the binding from being read as
// the beginning of the position.
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
