package sender

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

// Group is a chat of several people that an app has opened.
type Group struct {
	ID      string   // at the service
	Name    string   // as the service was asked for: cut to its limit
	Link    string   // empty where the service gives none
	Missing []string // labels of those who could not be added, as the service does not know them
}

// Directory gives the id of a contact at a service, or "" when the service does not know it.
type Directory func(Contact) (id string, err error)

// Find looks up each contact. It gives the ids of those who are known, each once, with their contacts, and
// the labels of those who are not. An error is of the service, not of a person.
func (find Directory) Find(people []Contact) (ids []string, known map[string]Contact, missing []string, err error) {
	known = map[string]Contact{}
	for _, p := range people {
		id, err := find(p)
		if err != nil {
			return nil, nil, nil, err
		}
		if id == "" {
			missing = append(missing, p.Label())
			continue
		}
		if _, twice := known[id]; !twice {
			ids = append(ids, id)
			known[id] = p
		}
	}
	return ids, known, missing, nil
}

// Add adds ids in lots of at most size. A lot that is refused for good is tried one at a time, so that one
// who cannot be added does not keep the others out; it gives the ids of those. An error is one that trying
// again may heal.
func Add(ids []string, size int, add func([]string) error) (refused []string, err error) {
	for len(ids) > 0 {
		lot := ids[:min(size, len(ids))]
		ids = ids[len(lot):]
		switch err := add(lot); {
		case err == nil:
		case Retry(err):
			return refused, err
		case len(lot) == 1:
			refused = append(refused, lot[0])
		default:
			alone, err := Add(lot, 1, add)
			refused = append(refused, alone...)
			if err != nil {
				return refused, err
			}
		}
	}
	return refused, nil
}

// Labels are those of some ids.
func Labels(ids []string, known map[string]Contact) []string {
	labels := make([]string, len(ids))
	for i, id := range ids {
		labels[i] = known[id].Label()
	}
	return labels
}
