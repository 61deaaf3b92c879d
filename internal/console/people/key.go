package people

import (
	"net/http"
	"net/url"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/person"
)

// The pages of app keys: those of the visitor, and those of another person, for the account's owner.
var keyPages = []page.Page{
	{Path: "/keys", Template: "keys", Tab: "me", Show: showKeys},
	{Path: "/people/{id}/keys", Template: "keys", Tab: "people", Show: showKeys},
}

var keyActions = slices.Concat(keyActionsAt("/keys"), keyActionsAt("/people/{id}/keys"))

// keyActionsAt returns the actions of a list of keys at an address.
func keyActionsAt(list string) []page.Action {
	action := func(path string, do func(*page.Visit) (string, error)) page.Action {
		return page.Action{Path: list + path, Do: do, Show: showKeys, Template: "keys"}
	}
	return []page.Action{
		action("", createKey), action("/{key}/enable", enableKey),
		action("/{key}/disable", disableKey), action("/{key}/rename", renameKey), action("/{key}/delete", deleteKey),
	}
}

// owned is a list of what belongs to a person: keys, sessions.
type owned struct {
	Person int64 // 0: the visitor
	Name   string
	Path   string
}

// ownedAt returns the list at the address: of the visitor at the path own, or of a person below the page of the person. That of another
// person is for the account's owner.
func ownedAt(v *page.Visit, own, list string) (owned, error) {
	if v.Request.PathValue("id") == "" {
		return owned{Path: own}, nil
	}
	if v.ID() != v.Who.PersonID && !v.Who.Owner {
		return owned{}, &api.Refusal{Status: http.StatusForbidden, Code: "AccessDenied", Message: v.T("This is for the owner of the account.")}
	}
	found, err := v.People([]int64{v.ID()})
	if err == nil && found[v.ID()].ID == 0 {
		err = page.NotHere(v)
	}
	return owned{v.ID(), found[v.ID()].Name, "/people/" + url.PathEscape(v.Request.PathValue("id")) + list}, err
}

func keysAt(v *page.Visit) (owned, error) { return ownedAt(v, "/keys", "/keys") }

type keysView struct {
	page.Titled
	owned
	Keys   []person.AppKey
	Rights []right
	Secret string // shown this once; empty: none was made
}

func showKeys(v *page.Visit) (page.View, error) {
	d := keysView{Titled: page.Titled(v.T("App keys"))}
	var err error
	d.owned, err = keysAt(v)
	if err != nil {
		return nil, err
	}
	if d.Name != "" {
		d.Titled = page.Titled(v.T("App keys of %s", d.Name))
	}
	d.Secret, _ = v.Made.(string)
	for at := int64(1); ; at++ {
		request := person.KeyListRequest{Page: api.Page{P: at, Limit: 100}, PersonID: d.Person}
		reply, err := page.Call[api.Paged[person.AppKey]](v, "/person/app-key/list", request)
		if err != nil {
			return nil, err
		}
		d.Keys = append(d.Keys, reply.Items...)
		if !reply.HasNextPage {
			break
		}
	}
	d.Rights, err = rightsByName(v, v.Request.PostForm["permission"])
	return d, err
}

// createKey makes a key and shows it, this once.
func createKey(v *page.Visit) (string, error) {
	of, err := keysAt(v)
	if err != nil {
		return "", err
	}
	request := person.KeyCreateRequest{KeyName: v.Field("name"), PersonID: of.Person, IsEnabled: new(v.Field("off") == "")}
	for _, name := range v.Request.PostForm["permission"] {
		if name != "" {
			request.Permissions = append(request.Permissions, name)
		}
	}
	if v.Field("scripts") != "" {
		request.Wait = new(int64(auth.MaxWait))
	}
	if day := v.Field("expires"); day != "" {
		request.ExpiresAt, err = dayOf(v, day)
		if err != nil {
			return "", err
		}
	}
	made, err := page.Call[person.KeyCreated](v, "/person/app-key/create", request)
	v.Made = made.Key
	return "", err
}

// keyOf returns the key of the address, and the list that it is in.
func keyOf(v *page.Visit) (person.KeyRequest, owned, error) {
	of, err := keysAt(v)
	return person.KeyRequest{KeyID: page.Number(v.Request.PathValue("key")), PersonID: of.Person}, of, err
}

func enableKey(v *page.Visit) (string, error) {
	key, of, err := keyOf(v)
	if err != nil {
		return "", err
	}
	return of.Path + "?done=saved", page.Do[api.Empty](v, "/person/app-key/enable", key)
}

func disableKey(v *page.Visit) (string, error) {
	key, of, err := keyOf(v)
	if err != nil {
		return "", err
	}
	return of.Path + "?done=saved", page.Do[api.Empty](v, "/person/app-key/disable", key)
}

func renameKey(v *page.Visit) (string, error) {
	key, of, err := keyOf(v)
	if err != nil {
		return "", err
	}
	request := person.KeyNameRequest{KeyRequest: key, KeyName: v.Field("key_name")}
	return of.Path + "?done=saved", page.Do[api.Empty](v, "/person/app-key/name/reset", request)
}

func deleteKey(v *page.Visit) (string, error) {
	key, of, err := keyOf(v)
	if err != nil {
		return "", err
	}
	return of.Path + "?done=deleted", page.Do[api.Removal](v, "/person/app-key/delete", person.KeyDeleteRequest{KeyRequest: key})
}
