package configstore

// SetIfSent sets a member of an object to the value that a request sent; nil leaves the member as it is.
func SetIfSent[T any](member *T, sent *T) {
	if sent != nil {
		*member = *sent
	}
}
