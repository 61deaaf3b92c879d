package db

// Value returns what SetValue has stored under a key in this transaction; nil: nothing. Each package has key types of its
// own, so keys cannot collide.
func (t *Tx) Value(key any) any { return t.values[key] }

// SetValue keeps a value until the function of the transaction returns; nil removes it. It is for what one operation reads
// once for many rows. A Try that fails keeps it too.
func (t *Tx) SetValue(key, value any) {
	if value == nil {
		delete(t.values, key)
		return
	}
	if t.values == nil {
		t.values = map[any]any{}
	}
	t.values[key] = value
}
