package console

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/person"
	"tocsin/internal/signin"
)

// signInLink is a link with which a person sets a password. It is shown this once.
type signInLink struct {
	signin.LinkCreated
	URL string
}

// mayLink reports whether the visitor may make a link for a person, as far as the page knows: the account's owner for
// any other, and those who invite for persons who have not signed in yet.
func (v *visit) mayLink(m person.Member) bool {
	return m.MemberID != v.who.PersonID && (v.who.Owner || m.Status == "pending") && v.who.May(auth.MembersManage)
}

// removeIdentity removes who a person is at the provider, which ends the sessions that began there.
func removeIdentity(v *visit) (string, error) {
	return v.personPath("saved"), do[api.Empty](v, "/person/identity/remove", signin.IdentityRequest{PersonID: v.pathID()})
}

// linkPerson makes a link with which a person sets a password.
func linkPerson(v *visit) (string, error) {
	link, err := call[signin.LinkCreated](v, "/person/link/create", signin.LinkRequest{PersonID: v.pathID()})
	if err != nil {
		return "", err
	}
	v.made = &signInLink{link, v.origin() + link.LinkPath}
	return "", nil
}
