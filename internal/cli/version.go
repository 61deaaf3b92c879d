package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"tocsin/internal/platform/db"
)

// version is set when the program is linked: -ldflags "-X tocsin/internal/cli.version=1.2.3", as make build does.
var version string

// Version is the release, or dev, with the commit it was built from where the build knows it.
func Version() string {
	if c := commit(); c != "" {
		return release() + "+" + c
	}
	return release()
}

// release is the version that was linked in, else the one that go install took, else dev.
func release() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" || strings.HasPrefix(info.Main.Version, "v0.0.0-") {
		return "dev"
	}
	return strings.TrimSuffix(strings.TrimPrefix(info.Main.Version, "v"), "+dirty")
}

func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				modified = "-modified"
			}
		}
	}
	if revision == "" {
		return ""
	}
	return revision + modified
}

type versionCmd struct{}

// Run prints the version, the commit and the database engines of this build.
func (cmd *versionCmd) Run(con *console) error {
	c := commit()
	if c == "" {
		c = "unknown"
	}
	fmt.Fprintf(con.out, "tocsin %s\ncommit %s\n%s %s/%s\ndatabase engines: %s\n",
		release(), c, runtime.Version(), runtime.GOOS, runtime.GOARCH, strings.Join(db.Engines(), ", "))
	return nil
}
