package api

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

// Users returns the first hundred objects of one kind that refer to an object. Their names are names that the caller may
// read.
func (c *Call) Users(toKind string, id any, kind string) ([]fault.Ref, error) {
	refs, err := configstore.References(c.Tx, c.Who.AccountID, toKind, id)
	refs = slices.DeleteFunc(refs, func(r fault.Ref) bool { return r.Kind != kind })
	if err != nil || len(refs) == 0 || c.conceal == nil {
		return refs, err
	}
	concealed := c.conceal(c.Tx, c.Who, configstore.Refused(fault.Ref{Kind: toKind, ID: fmt.Sprint(id)}, refs))
	var refused *fault.Error
	if !errors.As(concealed, &refused) || refused.Kind != fault.ReferenceExist {
		return nil, concealed
	}
	return refused.Refs, nil
}

// maxNamed is how many objects a warning names.
const maxNamed = 20

// Named lists objects by name and id: the first maxNamed objects, and how many more there are.
func Named(refs []fault.Ref) string {
	var names []string
	for _, r := range refs[:min(len(refs), maxNamed)] {
		names = append(names, fmt.Sprintf("%s (%s)", r.Name, r.ID))
	}
	if more := len(refs) - maxNamed; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
