package signin

import (
	"encoding/hex"
	"strings"

	"tocsin/internal/platform/id"
)

// deviceContext is what a known browser's text is sealed for.
const deviceContext = "sign-in/device"

// Known returns a text for the browser to keep, which shows at later sign-ins that this person has signed in with it.
// It proves nothing else: the password is still required.
func (s *Service) Known(email string) (string, error) {
	d := digestOf("known", fold(email))
	return s.Keyring.Seal(hex.EncodeToString(d[:])+"."+id.Token(8), deviceContext)
}

// knows reports whether the person of an attempt has signed in with this browser before.
func (s *Service) knows(a Attempt) bool {
	if a.Device == "" {
		return false
	}
	plain, err := s.Keyring.Open(a.Device, deviceContext)
	d := digestOf("known", fold(a.Email))
	return err == nil && strings.HasPrefix(plain, hex.EncodeToString(d[:])+".")
}
