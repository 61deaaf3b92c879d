package timeline

// Window returns the timeline in [from, to), clipped to it (R16). It is empty
// when to is not after from. The number of entries, and with it the cost, grows
// with the window and not with its distance from the layers' starts; the caller
// bounds the window's length.
func (s *Schedule) Window(from, to int64) Timeline { return Timeline{} }
