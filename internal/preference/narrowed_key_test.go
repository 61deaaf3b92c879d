package preference_test

import (
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/preference"
)

// TestNarrowedKeyLeavesPreferencesAlone tries keys of the owner, who may otherwise set all preferences.
func TestNarrowedKeyLeavesPreferencesAlone(t *testing.T) {
	s := apitest.Start(t, (&preference.Service{Keyring: apitest.Box(t)}).Ops())
	narrowed := func(permissions ...string) (secret string) {
		s.Write(func(tx *db.Tx) (err error) {
			_, secret, err = auth.CreateKey(tx, auth.NewKey{Account: apitest.AccountA, Person: apitest.OwnerA, Permissions: append([]string{}, permissions...)}, s.Clock.Now().Unix())
			return err
		})
		return secret
	}
	nothing := narrowed()
	reads := narrowed("Members Read (org)")
	manages := narrowed("Members Manage (org)")
	theirs := fmt.Sprintf(`{"person_id": %d, "contacts": {"ntfy": "https://ntfy.example.com/x"}}`, apitest.Reader)
	s.Converse(t, []apitest.Turn{
		{Path: "/preference/update", Body: `{"contacts": {"telegram": "1:token/2"}}`},
		{Path: "/preference/update", Key: nothing, Body: `{"quiet_hours": []}`, Code: "AccessDenied", Says: []string{"Members Manage"}},
		{Path: "/preference/update", Key: nothing, Body: theirs, Code: "AccessDenied"},
		{Path: "/preference/update", Key: reads, Body: `{"contacts": {"telegram": ""}}`, Code: "AccessDenied"},
		{Path: "/preference/info", Key: nothing, Body: `{}`, Code: "AccessDenied", Says: []string{"Members Read"}},
		{Path: "/preference/info", Key: reads, Body: `{}`, Has: `{"contacts": {"telegram": ""}}`},
		{Path: "/preference/update", Key: manages, Body: theirs},
		{Path: "/preference/update", Key: manages, Body: `{"quiet_hours": []}`},
		{Path: "/preference/update", Key: manages, Body: `{"contacts": {"telegram": ""}}`, Code: "AccessDenied", Says: []string{"contacts", "owner"}},
		{Path: "/preference/info", Body: `{}`, Has: `{"contacts": {"telegram": "1:token/2"}}`},
		{Path: "/preference/update", Key: apitest.KeyNothing, Body: `{"contacts": {"ntfy": "https://ntfy.example.com/stan"}}`}, // a full key without any role
	})
}
