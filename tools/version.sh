#!/bin/sh
# Prints the version of this checkout: the tag, or the last tag and the commits since; "dev" outside of git.
git describe --tags --always --dirty 2>/dev/null || echo dev
