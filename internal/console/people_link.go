package console

import "tocsin/internal/auth"

// signInLink is a link with which a person sets a password. It is shown this once.
type signInLink struct {
	Path string `json:"link_path"`
	Ends int64  `json:"link_ends_at"` // Unix seconds
	URL  string `json:"-"`
}

// mayLink reports whether the visitor may make a link for a person, as far as the page knows: the account's owner for
// any other, and those who invite for persons who have not signed in yet.
func (v *visit) mayLink(person account) bool {
	return person.ID != v.who.PersonID && (v.who.Owner || person.Status == "pending") && v.who.May(auth.MembersManage)
}

// removeIdentity removes who a person is at the provider, which ends the sessions that began there.
func removeIdentity(v *visit) (string, error) {
	return v.personPath("saved"), v.call("/person/identity/remove", map[string]any{"person_id": v.pathID()}, nil)
}

// linkPerson makes a link with which a person sets a password.
func linkPerson(v *visit) (string, error) {
	var link signInLink
	if err := v.call("/person/link/create", map[string]any{"person_id": v.pathID()}, &link); err != nil {
		return "", err
	}
	link.URL = v.origin() + link.Path
	v.made = &link
	return "", nil
}
