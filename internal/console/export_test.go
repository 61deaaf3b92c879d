package console

// Patterns returns the addresses of all pages and of all actions, as patterns. Those that are open to visitors who have
// not signed in are left out.
func Patterns() (shown, done []string) {
	for _, p := range pages() {
		if !p.open {
			shown = append(shown, p.path)
		}
	}
	for _, a := range actions() {
		if !a.open {
			done = append(done, a.path)
		}
	}
	return shown, done
}
