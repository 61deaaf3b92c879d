package audit

import (
	"slices"
	"strings"

	"tocsin/internal/api"
)

// operationList is POST /audit/operation/list. It returns every operation once, sorted by name.
func (r *Service) operationList(*api.Call, api.Empty) (api.Items[Operation], error) {
	list := slices.Clone(r.operations)
	slices.SortFunc(list, func(a, b Operation) int { return strings.Compare(a.Name, b.Name) })
	return api.Items[Operation]{Items: slices.Compact(list)}, nil
}
