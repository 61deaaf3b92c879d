package sender

import (
	"context"
	"slices"
	"strings"

	"tocsin/internal/platform/egress"
)

// Contact is somebody who is to be found at a service: by e-mail address or by phone number, whichever the
// service knows people by. Either may be empty.
type Contact struct{ Name, Email, Phone string }

// Label is how a contact is named to people.
func (c Contact) Label() string {
	switch {
	case c.Name != "":
		return c.Name
	case c.Email != "":
		return c.Email
	}
	return c.Phone
}

// Mobile is the phone number as services in China know it: those of the mainland without +86, others as they
// are, none with spaces or hyphens.
func (c Contact) Mobile() string {
	digits := strings.NewReplacer(" ", "", "-", "", "(", "", ")", "").Replace(c.Phone)
	return strings.TrimPrefix(digits, "+86")
}

// App is an app of a chat service: it opens groups, and tells persons and groups.
type App interface {
	// OpenGroup opens a group with people in it. When the group has an ID it is open, even beside an error.
	OpenGroup(ctx context.Context, out *egress.Client, name string, people []Contact) (Group, error)
	// AddMembers adds people to a group and gives the labels of those who could not be added.
	AddMembers(ctx context.Context, out *egress.Client, groupID string, people []Contact) (missing []string, err error)
	// FindGroup asks for a group as it is now; found is false when there is none any more.
	FindGroup(ctx context.Context, out *egress.Client, groupID string) (group Group, found bool, err error)
	// CloseGroup ends a group; one that is gone is ended. left says in words what stays, of a service on which an
	// app cannot end groups; empty: nothing.
	CloseGroup(ctx context.Context, out *egress.Client, group Group) (left string, err error)
	// Post posts to a group.
	Post(ctx context.Context, out *egress.Client, groupID string, m Message) (Receipt, error)
	// Tell sends one person a direct message. It is no use to try again with a person whom the service does not know.
	Tell(ctx context.Context, out *egress.Client, person Contact, m Message) (Receipt, error)
}

// Group is a chat of several people that an app has opened.
type Group struct {
	ID      string   // at the service
	Name    string   // as the service was asked for: cut to its limit
	Link    string   // empty where the service gives none
	Missing []string // labels of those who could not be added, as the service does not know them
}

// Closed is the name that a group gets which can only be renamed: of at most so many characters.
func Closed(name string, limit int) string { return Line("[Closed] "+name, limit) }

// Directory gives the id of a contact at a service, or "" when the service does not know it.
type Directory func(Contact) (id string, err error)

// Find looks up each contact. It gives the ids of those who are known, each once, with their contacts, and
// the labels of those who are not. One whose look-up is refused is missing; it is an error when all are, or
// when trying again may help.
func (find Directory) Find(people []Contact) (ids []string, known map[string]Contact, missing []string, err error) {
	known = map[string]Contact{}
	refused, last := 0, error(nil)
	for _, p := range people {
		id, err := find(p)
		if Retry(err) {
			return nil, nil, nil, err
		}
		if err != nil {
			refused, last = refused+1, err
		}
		if err != nil || id == "" {
			missing = append(missing, p.Label())
			continue
		}
		if _, twice := known[id]; !twice {
			ids = append(ids, id)
			known[id] = p
		}
	}
	if refused == len(people) {
		return nil, nil, missing, last
	}
	return ids, known, missing, nil
}

// Invite looks up people and has those who are known added, which gives the ids of those who could not be. It gives
// the labels of all who were not added.
func (find Directory) Invite(people []Contact, add func(ids []string) (refused []string, err error)) (missing []string, err error) {
	ids, known, missing, err := find.Find(people)
	if err != nil {
		return missing, err
	}
	refused, err := add(ids)
	return append(missing, Labels(refused, known)...), err
}

// One looks up a single contact. One whom the service does not know is an error that names the service and what
// it knows people by, such as "Slack" and "e-mail address".
func (find Directory) One(p Contact, service, by string) (id string, err error) {
	if id, err = find(p); err == nil && id == "" {
		err = &Error{Message: service + " does not know " + p.Label() + " by " + by}
	}
	return id, err
}

// Add adds ids in lots of at most size. A lot that is refused for good is tried one at a time, so that one
// who cannot be added does not keep the others out; it gives the ids of those. It is an error when nobody
// could be added, or when trying again may help.
func Add(ids []string, size int, add func([]string) error) (refused []string, err error) {
	var last error
	for lot := range slices.Chunk(ids, size) {
		whole := add(lot)
		switch {
		case whole == nil:
			continue
		case Retry(whole):
			return refused, whole
		case len(lot) == 1:
			refused, last = append(refused, lot...), whole
			continue
		}
		last = whole
		for _, id := range lot {
			alone := add([]string{id})
			if Retry(alone) {
				return refused, alone
			}
			if alone != nil {
				refused = append(refused, id)
			}
		}
	}
	if len(refused) == len(ids) {
		return refused, last
	}
	return refused, nil
}

// maxTries is how often a group is tried to be opened: a service that refuses more people than that refuses
// the app.
const maxTries = 10

// Open opens a group at a service that opens none without people: with the first of some lots that it accepts,
// so that one who may not join does not keep the others out. It gives those of all who are not in the group
// yet. The error is that of the first lot, or that trying again may help.
func Open(all []string, lots [][]string, create func(lot []string) error) (rest []string, err error) {
	for _, lot := range lots[:min(len(lots), maxTries)] {
		failed := create(lot)
		if failed == nil {
			return slices.DeleteFunc(slices.Clone(all), func(id string) bool { return slices.Contains(lot, id) }), nil
		}
		if Retry(failed) {
			return nil, failed
		}
		if err == nil {
			err = failed
		}
	}
	return nil, err
}

// Labels are those of some ids.
func Labels(ids []string, known map[string]Contact) []string {
	labels := make([]string, len(ids))
	for i, id := range ids {
		labels[i] = known[id].Label()
	}
	return labels
}
