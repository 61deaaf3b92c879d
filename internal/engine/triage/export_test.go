package triage

// Failed gives what turns have failed with since the deciding task last said.
func (r *Service) Failed() error { return r.events.Failed() }

// Between has something called between deciding and storing.
func (r *Service) Between(fn func(account int64)) { r.between = fn }
