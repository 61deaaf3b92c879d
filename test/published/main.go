// Command published writes the digest of the public API description that tests hold replies against:
//
//	go run ./test/published NEWEST.json [OLDER.json ...] > internal/api/apitest/testdata/published.json
//
// The digest has names, types and enums only; the description itself never becomes part of the project.
package main

import (
	"fmt"
	"os"

	"tocsin/internal/api/apitest"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "published:", err)
		os.Exit(1)
	}
}

func run(files []string) error {
	if len(files) == 0 {
		return fmt.Errorf("name at least one OpenAPI document, the newest first")
	}
	documents := make([][]byte, len(files))
	for i, name := range files {
		var err error
		documents[i], err = os.ReadFile(name)
		if err != nil {
			return err
		}
	}
	digest, err := apitest.Digest(documents...)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(digest)
	return err
}
