package configstore

import (
	"errors"
	"slices"

	"tocsin/internal/platform/fault"
)

// Concealed replaces the name of an object that the caller may not read.
const Concealed = "private"

// Conceal removes names from the error ReferenceExist, which lists the objects that prevent a deletion: conceal replaces
// those that the caller may not read by Concealed. Their kinds and ids stay, so that the caller can ask the owner about
// them. Any other error is returned unchanged.
func Conceal(err error, conceal func([]fault.Ref) error) error {
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Kind != fault.ReferenceExist {
		return err
	}
	refs := slices.Clone(refused.Refs)
	if err := conceal(refs); err != nil {
		return err
	}
	return Refused(refused.Object, refs)
}
