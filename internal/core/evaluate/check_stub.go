package evaluate

// FieldError is what is wrong with a member of a Config.
type FieldError struct{ Field, Message string }

// Error returns the member with the message.
func (e *FieldError) Error() string { return e.Field + ": " + e.Message }

// Check returns what a rule must not have.
func Check(c Config) error {
	if len(c.Queries) == 0 {
		return &FieldError{"queries", "must have at least one query"}
	}
	return nil
}

// CheckWindows returns what the windows of a rule must not be.
func CheckWindows([]Window) error { return nil }
