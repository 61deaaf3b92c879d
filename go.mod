module tocsin

go 1.26.0

require (
	github.com/oklog/ulid/v2 v2.1.2
	golang.org/x/crypto v0.58.0
)

require golang.org/x/sys v0.49.0 // indirect
