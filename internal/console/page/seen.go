package page

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json"
)

// This file keeps two people who edit the same thing from overwriting each other unseen: a form has the identity of what
// it began with, and the second to save is shown that it has changed.

// Identity returns a short text that differs when what is stored differs.
func Identity(stored any) string {
	text, err := json.Marshal(stored, json.Deterministic(true))
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// meanwhile means that what a form began with is no longer what is stored.
type meanwhile struct{}

// Unchanged returns an error when a form began with something else than what is stored now. The form is shown again with
// what was entered; sending it once more replaces what is stored.
func (v *Visit) Unchanged(now string, by int64) error {
	if now == "" || !v.Request.PostForm.Has("seen") || v.Field("seen") == now {
		return nil
	}
	v.Made = meanwhile{}
	people, err := v.People([]int64{by})
	if err != nil {
		return err
	}
	if name := people[by].Name; name != "" {
		return Wrong(v.T(
			"%s has changed this meanwhile. What you entered is below and is not saved. Saving again replaces what is stored.", name))
	}
	return Wrong(v.T("This was changed meanwhile. What you entered is below and is not saved. Saving again replaces what is stored."))
}

// FormSeen returns the identity that a form is shown with again: that of what is stored only when the page shows that it
// has changed.
func (v *Visit) FormSeen(now string) string {
	if _, shown := v.Made.(meanwhile); shown {
		return now
	}
	return v.Field("seen")
}
