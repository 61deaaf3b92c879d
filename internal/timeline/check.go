package timeline

// ConfigError says which value of a schedule cannot be accepted, and why.
type ConfigError struct {
	Path   string // where, in the names of the API: layers[2].rotation_value
	Reason string // the bound and the value: must be 1 to 30, got 31
}

// Error returns the path followed by the reason.
func (e *ConfigError) Error() string { return e.Path + " " + e.Reason }

// Check returns a *ConfigError for the first value that makes the schedule
// impossible to compute, or nil. A schedule that passes can be computed for any
// window.
func (s *Schedule) Check() error { return nil }

// Warnings returns what is legal but probably not meant, one sentence each,
// beginning with the path of the value. The schedule must have passed Check.
func (s *Schedule) Warnings() []string { return nil }
