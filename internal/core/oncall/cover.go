package oncall

// Cover is one person's promise to be on call in place of another, or of
// each person with a role. Covers take effect in the order of Schedule.Covers, each
// on the outcome of those before it, so that a shift that was handed over can
// be handed on (R24).
type Cover struct {
	ID         int64 // identifies the cover in explanations
	Start, End int64 // Unix seconds, [Start, End)
	PersonID   int64 // the person replaced; 0 = everyone who holds RoleID
	RoleID     int64 // the role in which they are replaced; AnyRole = each role that PersonID holds
	By         int64 // the person who is on call instead
}

// AnyRole is the RoleID of a cover that replaces a person in every role.
const AnyRole int64 = -1

// Absence is a time in which a person cannot be on call (R25).
type Absence struct {
	PersonID   int64
	Start, End int64 // Unix seconds, [Start, End)
}

// WhenAbsent is what a rotation does when no person of the group whose turn it is
// is present (R25).
type WhenAbsent uint8

// The choices.
const (
	AbsentNext WhenAbsent = 0 // the next group of the rotation that has a person present takes the time
	AbsentGap  WhenAbsent = 1 // no one does, and the gap shows
)
