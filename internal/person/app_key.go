package person

import (
	"cmp"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

// AppKey is an app key without the secret itself.
type AppKey struct {
	KeyID       int64     `json:"key_id" doc:"The key's identifier."`
	KeyName     string    `json:"key_name" doc:"What people call it."`
	PersonID    int64     `json:"person_id" doc:"The person that the key belongs to."`
	PersonName  string    `json:"person_name" doc:"Their name."`
	Permissions *[]string `json:"permissions" nullable:"true" doc:"The permissions that it is narrowed to; null: all permissions of its person."`
	Status      string    `json:"status" enum:"enabled,disabled" doc:"A disabled key is rejected."`
	ExpiresAt   int64     `json:"expires_at" doc:"Unix seconds; 0: never."`
	CreatedAt   int64     `json:"created_at" doc:"Unix seconds."`
	LastUsedAt  int64     `json:"last_used_at" doc:"Unix seconds, a few seconds late; 0: never."`
	Wait        *int64    `json:"wait" nullable:"true" doc:"Seconds that its calls above a limit wait for their turn; null: as the server is set."`
}

// KeyCreateRequest is an app key to create.
type KeyCreateRequest struct {
	KeyName     string   `json:"key_name" minLength:"1" maxLength:"128" doc:"What to call it."`
	IsEnabled   *bool    `json:"is_enabled,omitzero" doc:"Whether it works at once; absent: yes."`
	PersonID    int64    `json:"person_id,omitzero" minimum:"0" doc:"The person that it belongs to; absent: the caller. Only the account's owner can create keys of other persons."`
	Permissions []string `json:"permissions,omitzero" maxItems:"100" maxLength:"255" doc:"The permissions to narrow it to, by name; absent: those of its person, or those that the calling key is narrowed to."`
	ExpiresAt   int64    `json:"expires_at,omitzero" minimum:"0" doc:"Unix seconds; absent or 0: never, or when this key expires."`
	Wait        *int64   `json:"wait,omitzero" minimum:"0" maximum:"30" doc:"For scripts: seconds that its calls above a limit wait for their turn instead of being refused; 0: they are refused; absent: as the server is set, which refuses them unless it runs with --limit-wait."`
}

// KeyCreated is an app key that was created.
type KeyCreated struct {
	KeyID   int64  `json:"key_id" doc:"The new key's identifier."`
	KeyName string `json:"key_name" doc:"Its name."`
	Key     string `json:"key" doc:"The key itself. It is shown only once."`
}

// keyOwner returns the person whose keys a call is about. Only the account's owner may act on keys of other persons.
func keyOwner(c *api.Call, person int64) (int64, error) {
	if person == 0 || person == c.Who.PersonID {
		return c.Who.PersonID, nil
	}
	if !c.Who.Owner {
		return 0, fault.Denied("only the account's owner may act on keys of another person, %d", person)
	}
	return person, nil
}

// checkCovered returns AccessDenied when the caller's key is narrowed and the other key has a permission that the caller's
// lacks. A full key (permissions nil) is never covered by a narrowed one, because it grows with its person's roles.
func checkCovered(c *api.Call, permissions []string) error {
	if !c.Who.Narrowed {
		return nil
	}
	if permissions == nil {
		return fault.Denied("this key is narrowed and cannot act on a key that is not")
	}
	for _, name := range permissions {
		if p, err := auth.Parse(name); err != nil || !c.Who.May(p) {
			return fault.Denied("this key is narrowed and cannot act on a key with a permission that it lacks: %q", name)
		}
	}
	return nil
}

// checkExpiry returns AccessDenied for a key that expires later than the caller's. expires is in Unix seconds; 0: never.
func checkExpiry(c *api.Call, expires int64) error {
	if own := c.Who.ExpiresAt; own != 0 && (expires == 0 || expires > own) {
		return fault.Denied("this key expires at %d and cannot create or enable a key that expires later, got expires_at %d", own, expires)
	}
	return nil
}

// keyCreate creates a key with at most the permissions and the lifetime of the caller's key: a key that was limited on
// purpose must not create one without the limits.
func keyCreate(c *api.Call, in KeyCreateRequest) (KeyCreated, error) {
	person, err := keyOwner(c, in.PersonID)
	if err != nil {
		return KeyCreated{}, err
	}
	if in.Permissions == nil && c.Who.Narrowed {
		in.Permissions = auth.Names(c.Who.Permissions)
	}
	for _, name := range in.Permissions {
		if _, err := auth.Parse(name); err != nil {
			return KeyCreated{}, fault.Invalid("permissions", "%v", err)
		}
	}
	in.ExpiresAt = cmp.Or(in.ExpiresAt, c.Who.ExpiresAt)
	if err := configstore.FirstError(checkCovered(c, in.Permissions), checkExpiry(c, in.ExpiresAt)); err != nil {
		return KeyCreated{}, err
	}
	key, secret, err := CreateKey(c.Tx, auth.NewKey{Account: c.Who.AccountID, Person: person, Name: in.KeyName, Permissions: in.Permissions,
		ExpiresAt: in.ExpiresAt, Wait: in.Wait}, c.Unix())
	if err != nil {
		return KeyCreated{}, err
	}
	c.Touched("app_key", key, in.KeyName)
	if in.IsEnabled != nil && !*in.IsEnabled {
		err = auth.SetKeyStatus(c.Tx, c.Who.AccountID, key, auth.KeyDisabled)
	}
	return KeyCreated{key, in.KeyName, secret}, err
}

// KeyListRequest asks for a page of app keys.
type KeyListRequest struct {
	api.Page
	OrderBy  string `json:"orderby,omitzero" enum:"created_at,updated_at" doc:"Both mean created_at."`
	Asc      bool   `json:"asc,omitzero" doc:"Oldest first."`
	PersonID int64  `json:"person_id,omitzero" minimum:"0" doc:"The person whose keys are listed; absent: the caller. Only the account's owner can list keys of other persons."`
}

func keyList(c *api.Call, in KeyListRequest) (api.Paged[AppKey], error) {
	person, err := keyOwner(c, in.PersonID)
	if err != nil {
		return api.Paged[AppKey]{}, err
	}
	keys, err := auth.ListKeys(c.Tx, c.Who.AccountID)
	keys = slices.DeleteFunc(keys, func(k auth.Key) bool { return k.PersonID != person })
	if !in.Asc {
		slices.Reverse(keys)
	}
	limit, offset := in.Window(20)
	total := int64(len(keys))
	keys = keys[min(offset, total):min(offset+limit, total)]
	items := make([]AppKey, len(keys))
	for i, k := range keys {
		status := cmp.Or(k.Status, auth.KeyEnabled)
		items[i] = AppKey{k.ID, k.Name, k.PersonID, k.PersonName, nil, status, k.ExpiresAt, k.CreatedAt, k.LastUsedAt, k.Wait}
		if k.Permissions != nil {
			items[i].Permissions = &k.Permissions
		}
	}
	return api.NewPaged(items, offset, total), err
}

// KeyRequest names an app key.
type KeyRequest struct {
	KeyID    int64 `json:"key_id" minimum:"1" doc:"The key."`
	PersonID int64 `json:"person_id,omitzero" minimum:"0" doc:"The person that it belongs to; absent: the caller."`
}

// find returns the key. It returns fault.Missing for keys of other persons, and AccessDenied for a key that the caller's
// does not cover.
func (in KeyRequest) find(c *api.Call) (auth.Key, error) {
	person, err := keyOwner(c, in.PersonID)
	if err != nil {
		return auth.Key{}, err
	}
	keys, err := auth.ListKeys(c.Tx, c.Who.AccountID)
	if err != nil {
		return auth.Key{}, err
	}
	for _, k := range keys {
		if k.ID == in.KeyID && k.PersonID == person {
			c.Touched("app_key", k.ID, k.Name)
			return k, checkCovered(c, k.Permissions)
		}
	}
	return auth.Key{}, fault.Missing("app key", in.KeyID)
}

// setKeyStatus returns the function of /person/app-key/enable or /person/app-key/disable.
func setKeyStatus(status string) func(*api.Call, KeyRequest) (api.Empty, error) {
	return func(c *api.Call, in KeyRequest) (api.Empty, error) {
		k, err := in.find(c)
		if err != nil {
			return api.Empty{}, err
		}
		if status == auth.KeyEnabled {
			if err := checkExpiry(c, k.ExpiresAt); err != nil {
				return api.Empty{}, err
			}
		}
		if status == auth.KeyDisabled && k.ID == c.Who.KeyID {
			return api.Empty{}, fault.New(fault.Conflict, "key %d is the one that this call was made with: use another one to disable it", k.ID)
		}
		return api.Empty{}, auth.SetKeyStatus(c.Tx, c.Who.AccountID, k.ID, status)
	}
}

// KeyDeleteRequest names an app key to delete.
type KeyDeleteRequest struct {
	KeyRequest
	api.DryRun
}

func keyDelete(c *api.Call, in KeyDeleteRequest) (api.Removal, error) {
	k, err := in.find(c)
	if err != nil {
		return api.Removal{}, err
	}
	if k.ID == c.Who.KeyID {
		return api.Removal{}, fault.New(fault.Conflict, "key %d is the one that this call was made with: use another one to delete it", k.ID)
	}
	c.Removed("app_key", k.ID, k.Name)
	return api.Removal{}, auth.DeleteKey(c.Tx, c.Who.AccountID, k.ID)
}

// KeyNameRequest is a new name of an app key.
type KeyNameRequest struct {
	KeyRequest
	KeyName string `json:"key_name" minLength:"1" maxLength:"128" doc:"What to call it."`
}

func keyNameReset(c *api.Call, in KeyNameRequest) (api.Empty, error) {
	k, err := in.find(c)
	if err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, auth.RenameKey(c.Tx, c.Who.AccountID, k.ID, in.KeyName)
}
