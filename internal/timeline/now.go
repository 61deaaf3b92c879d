package timeline

// Horizon is how far ahead At looks for the start of the next piece, in
// seconds: 400 days (R22).
const Horizon int64 = 400 * 86400

// At returns the piece that contains now and the piece that follows it, each
// with its true bounds, which no window has clipped (R22). Current is nil when
// nobody is on call; next is then the first piece to begin after now. Next is
// nil when no piece begins within Horizon of the end of current (or of now).
func (s *Schedule) At(now int64) (current, next *Piece) { return nil, nil }
