package role

import (
	"slices"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

type factorsRequest struct {
	FactorTypes []string `json:"factor_types,omitzero" maxItems:"10" enum:"api,button,visit,menu,url" doc:"Only factors of these types."`
}

// Factor is the smallest thing that a role can allow.
type Factor struct {
	FactorName string `json:"factor_name" doc:"Resource and right, such as schedules:read."`
	FactorType string `json:"factor_type" enum:"api,button,visit,menu,url" doc:"Always api."`
}

func factorList(_ *api.Call, in factorsRequest) ([]Factor, error) {
	items := []Factor{}
	if len(in.FactorTypes) > 0 && !slices.Contains(in.FactorTypes, "api") {
		return items, nil
	}
	for _, name := range auth.Names(auth.All) {
		p, err := auth.Parse(name)
		if err != nil {
			return nil, err
		}
		resource, _, _ := strings.Cut(name, " (") // "Alerting Rules Read (monit)"
		resource = resource[:strings.LastIndexByte(resource, ' ')]
		items = append(items, Factor{strings.ReplaceAll(strings.ToLower(resource), " ", "-") + ":" + p.Type(), "api"})
	}
	return items, nil
}
