package db

// FileID identifies a file for as long as it exists, wherever it is moved. A copy has another one. The number of the
// device is not part of it, because that changes when a volume is attached again.
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

// File returns the identity of the database file.
func (d *DB) File() (FileID, error) { return fileID(d.path) }

// DSN returns the name that the database was opened by.
func (d *DB) DSN() string { return d.dsn }
