// Command sbom prints the bill of materials of a Go binary as CycloneDX JSON: the module it was built from and every
// module linked into it, with version and checksum, as the Go linker recorded them. It never asks the network.
//
//	go run ./sbom BINARY > BINARY.cdx.json
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(file string) error {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{
		Type: cdx.ComponentTypeApplication, Name: info.Main.Path, Version: filepath.Base(file), BOMRef: info.Main.Path,
	}}
	parts := []cdx.Component{{Type: cdx.ComponentTypePlatform, Name: "go", Version: strings.TrimPrefix(info.GoVersion, "go"), BOMRef: "go"}}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		parts = append(parts, component(dep))
	}
	bom.Components = &parts
	e := cdx.NewBOMEncoder(os.Stdout, cdx.BOMFileFormatJSON)
	return e.SetPretty(true).Encode(bom)
}

// component describes a module. The checksum is the one of go.sum, SHA-256 over the hashes of the module's files.
func component(m *debug.Module) cdx.Component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: url, BOMRef: url}
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) > 0 {
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	return c
}
