package people

import (
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/role"
)

// right is a part of the product with its two permissions, as the values of an input: to read, and to change, which includes to read.
type right struct {
	Label        string
	Read, Change string
	Chosen       string // one of the two, or neither
	read, change int64
}

// Of returns the one of the two that a role has; empty: neither.
func (r right) Of(one shownRole) string {
	switch {
	case slices.Contains(one.PermissionIDs, r.change):
		return r.Change
	case slices.Contains(one.PermissionIDs, r.read):
		return r.Read
	}
	return ""
}

// parts are the words for parts of the product that permissions name otherwise than the console does.
var parts = map[string]string{
	"Alerting Engines":    "Edges",
	"Alerting Rules":      "Rules",
	"Applications":        "Browser and app errors (RUM)",
	"Audit":               "Audit log",
	"Custom Fields":       "Custom fields",
	"Members":             "People",
	"Status Pages":        "Status pages",
	"Status Pages Events": "Incidents on status pages",
	"Templates":           "Message templates",
}

// rightsByID returns the parts of the product with the numbers of permissions as values.
func rightsByID(v *page.Visit, chosen []int64) ([]right, error) {
	var values []string
	for _, id := range chosen {
		values = append(values, strconv.FormatInt(id, 10))
	}
	return rights(v, values, func(p role.Permission) string { return strconv.FormatInt(p.ID, 10) })
}

// rightsByName returns the parts of the product with the names of permissions as values.
func rightsByName(v *page.Visit, chosen []string) ([]right, error) {
	return rights(v, chosen, func(p role.Permission) string { return p.PermissionName })
}

func rights(v *page.Visit, chosen []string, valueOf func(role.Permission) string) (all []right, err error) {
	reply, err := page.Call[api.Items[role.Permission]](v, "/role/permission/list", role.PermissionsRequest{WithAll: true})
	at := map[string]int{}
	for _, p := range reply.Items {
		name, _, _ := strings.Cut(p.PermissionName, map[string]string{"read": " Read (", "manage": " Manage ("}[p.PermissionType])
		i, known := at[name]
		if !known {
			i = len(all)
			at[name] = i
			all = append(all, right{Label: v.T(partOf(name))})
		}
		value, r := valueOf(p), &all[i]
		isChosen := slices.Contains(chosen, value)
		switch {
		case p.PermissionType == "read":
			r.Read, r.read = value, p.ID
		default:
			r.Change, r.change = value, p.ID
		}
		if isChosen && (p.PermissionType == "manage" || r.Chosen == "") {
			r.Chosen = value
		}
	}
	return all, err
}

// partOf returns the words for a part of the product.
func partOf(name string) string {
	if words, known := parts[name]; known {
		return words
	}
	return name
}
