// Command tocsin is the whole of Tocsin: server, demo and tools. See tocsin --help.
package main

import (
	_ "time/tzdata" // wall-clock rules must work where the system has no zone files

	"tocsin/internal/cli"
)

func main() { cli.Main() }
