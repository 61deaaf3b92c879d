package remote

// Fail makes the next line fail, as on a full disk.
func (j *Journal) Fail() { _ = j.file.Close() }

// Follow follows the account to an address, and returns the address that is called then.
func (c *Center) Follow(to string) string {
	c.follow(to)
	return c.server
}
