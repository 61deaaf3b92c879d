module tocsin

go 1.26.0

require (
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3
	github.com/oklog/ulid/v2 v2.1.2
	golang.org/x/crypto v0.58.0
)

require golang.org/x/sys v0.49.0 // indirect
