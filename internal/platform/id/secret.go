package id

import (
	"crypto/rand"
	"encoding/hex"
)

// AppKeyPrefix begins every app key, so that people and secret scanners
// recognise one that has strayed into a file.
const AppKeyPrefix = "tk_"

const (
	base62      = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	appKeyChars = 33 // 33 × log2(62) = 196 bits
)

// Token returns a secret of n random bytes as 2n lower-case hexadecimal
// digits.
func Token(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// AppKey returns a new app key: AppKeyPrefix and 33 characters of base62, 196
// random bits, more than enough that a plain fast hash of it can be stored.
func AppKey() string {
	key := make([]byte, 0, len(AppKeyPrefix)+appKeyChars)
	key = append(key, AppKeyPrefix...)
	var draw [64]byte
	for {
		rand.Read(draw[:])
		for _, b := range draw {
			// Six bits make 64 values; dropping the last two of them keeps
			// all characters equally likely.
			if b &= 63; int(b) < len(base62) {
				key = append(key, base62[b])
			}
			if len(key) == cap(key) {
				return string(key)
			}
		}
	}
}
