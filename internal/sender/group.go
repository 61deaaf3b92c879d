package sender

import (
	"context"
	"slices"
	"strings"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/egress"
)

// Contact is a person who is looked up at a service: by e-mail address or by phone number, whichever the service
// supports. Either may be empty.
type Contact struct{ Name, Email, Phone string }

// Label returns the name of a contact for people: the name, else the e-mail address, else the phone number.
func (c Contact) Label() string {
	switch {
	case c.Name != "":
		return c.Name
	case c.Email != "":
		return c.Email
	}
	return c.Phone
}

// Mobile returns the phone number as services in China store it: without +86 for the mainland, and without spaces,
// hyphens and parentheses.
func (c Contact) Mobile() string {
	digits := strings.NewReplacer(" ", "", "-", "", "(", "", ")", "").Replace(c.Phone)
	return strings.TrimPrefix(digits, "+86")
}

// App is an app of a chat service: it opens groups and sends messages to persons and groups.
type App interface {
	// OpenGroup opens a group with people in it. If the returned group has an ID it is open, even with an error.
	OpenGroup(ctx context.Context, out *egress.Client, name string, people []Contact) (Group, error)
	// AddMembers adds people to a group and returns the labels of the people that could not be added.
	AddMembers(ctx context.Context, out *egress.Client, groupID string, people []Contact) (missing []string, err error)
	// FindGroup returns a group as it is now; found is false if it no longer exists.
	FindGroup(ctx context.Context, out *egress.Client, groupID string) (group Group, found bool, err error)
	// CloseGroup ends a group, which need not exist. left describes what remains of it where the service does not
	// let an app end groups, and is empty where nothing does.
	CloseGroup(ctx context.Context, out *egress.Client, group Group) (left string, err error)
	// Post sends a message to a group.
	Post(ctx context.Context, out *egress.Client, groupID string, m Message) (Receipt, error)
	// SendDirect sends one person a direct message. It is never retried for a person unknown to the service.
	SendDirect(ctx context.Context, out *egress.Client, person Contact, m Message) (Receipt, error)
}

// Group is a chat of several people that an app has opened.
type Group struct {
	ID      string   // at the service
	Name    string   // as sent to the service: cut to its limit
	Link    string   // empty where the service has none
	Missing []string // labels of the people that could not be added, because the service does not know them
}

// Closed returns the name for a group that can only be renamed instead of closed, of at most limit characters.
func Closed(name string, limit int) string { return Line("[Closed] "+name, limit) }

// Directory returns the ID of a contact at a service, or "" if the service does not know it.
type Directory func(Contact) (id string, err error)

// Find looks up each contact. It returns the IDs of the known contacts, each once, these contacts by ID, and the
// labels of the others. A contact whose look-up is refused is missing. It is an error if all look-ups are refused,
// or if one may be retried.
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

// Invite looks up people and calls add with the IDs of the known ones; add returns the IDs that could not be added.
// Invite returns the labels of all people that were not added.
func (find Directory) Invite(people []Contact, add func(ids []string) (refused []string, err error)) (missing []string, err error) {
	ids, known, missing, err := find.Find(people)
	if err != nil {
		return missing, err
	}
	refused, err := add(ids)
	return append(missing, Labels(refused, known)...), err
}

// One looks up a single contact. An unknown contact is an error that names the service and the key of its look-up,
// such as "Slack" and "e-mail address".
func (find Directory) One(p Contact, service, by string) (id string, err error) {
	id, err = find(p)
	if err == nil && id == "" {
		err = &Error{Message: sentence.Raw(service + " does not know " + p.Label() + " by " + by)}
	}
	return id, err
}

// Add adds IDs in batches of at most size. A batch that is refused for good is tried one ID at a time, so that one
// person who cannot be added does not keep the others out. It returns the IDs that were refused. It is an error if
// all were refused, or if a failure may be retried.
func Add(ids []string, size int, add func([]string) error) (refused []string, err error) {
	var last error
	for batch := range slices.Chunk(ids, size) {
		batchErr := add(batch)
		switch {
		case batchErr == nil:
			continue
		case Retry(batchErr):
			return refused, batchErr
		case len(batch) == 1:
			refused, last = append(refused, batch...), batchErr
			continue
		}
		last = batchErr
		for _, id := range batch {
			oneErr := add([]string{id})
			if Retry(oneErr) {
				return refused, oneErr
			}
			if oneErr != nil {
				refused = append(refused, id)
			}
		}
	}
	if len(refused) == len(ids) {
		return refused, last
	}
	return refused, nil
}

// maxTries is the highest number of attempts to open a group: a service that refuses that many first members
// refuses the app.
const maxTries = 10

// Open opens a group at a service that opens none without members: with the first of several batches of members
// that it accepts, so that one person who may not join does not keep the others out. It returns the IDs of all that
// are not in the group yet. The error is that of the first batch, or one that may be retried.
func Open(all []string, batches [][]string, create func(batch []string) error) (rest []string, err error) {
	for _, batch := range batches[:min(len(batches), maxTries)] {
		failed := create(batch)
		if failed == nil {
			return without(all, batch), nil
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

// without returns the IDs that are not among others.
func without(ids, others []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(others, id) })
}

// Labels returns the labels of the contacts with these IDs.
func Labels(ids []string, known map[string]Contact) []string {
	labels := make([]string, len(ids))
	for i, id := range ids {
		labels[i] = known[id].Label()
	}
	return labels
}
