package console

// Patterns returns the addresses of all pages and of all actions, as patterns. Those that are open to visitors who have
// not signed in are left out.
func Patterns() (shown, done []string) {
	for _, one := range parts() {
		for _, p := range one.Pages {
			if !p.Open {
				shown = append(shown, p.Path)
			}
		}
		for _, a := range one.Actions {
			if !a.Open {
				done = append(done, a.Path)
			}
		}
	}
	return shown, done
}
