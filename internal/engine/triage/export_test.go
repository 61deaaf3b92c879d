package triage

// Failed returns the errors of rounds since the deciding job last returned them.
func (r *Service) Failed() error { return r.events.Failed() }

// Between sets a function that is called between deciding and storing.
func (r *Service) Between(fn func(account int64)) { r.between = fn }

// Gathered sets a function that is called between reading events and reading their alerts.
func (r *Service) Gathered(fn func()) { r.gathered = fn }
