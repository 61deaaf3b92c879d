package api

// Remembered sweeps and tells how many windows are left.
func Remembered(f *Frame) (rates, guesses int) {
	f.Sweep()
	now := f.Clock.Now()
	return f.rates.Sweep(now), f.guesses.Sweep(now)
}

// Check holds a body against the request schema of an operation, as a call does before the operation's
// own rules.
func Check(f *Frame, path string, body []byte) error {
	document, err := parse(body)
	if err != nil {
		return err
	}
	f.prepare(f.ops[path])
	return f.ops[path].check.check(nil, document)
}
