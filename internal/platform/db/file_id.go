package db

// FileID identifies a file for as long as it exists, wherever it is moved. A copy has another one. The number of the
// device is not part of it, because that changes when a volume is attached again. On PostgreSQL it identifies a database
// of a server: by the server's system identifier and the database's number there.
type FileID struct {
	Inode int64 // 0: not known
	Born  int64 // when the file was created, Unix nanoseconds; 0: not known
}

// Is reports whether two identities may be of one file. What is not known is not compared.
func (f FileID) Is(other FileID) bool {
	switch {
	case f.Inode == 0 || other.Inode == 0:
		return true
	case f.Inode != other.Inode:
		return false
	}
	return f.Born == 0 || other.Born == 0 || f.Born == other.Born
}

// DSN returns the name that the database was opened by, without a password.
func (d *DB) DSN() string { return Name(d.dsn) }
