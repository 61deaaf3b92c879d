# Shared by the project's shell scripts.

# say prints a heading.
say() { printf '== %s\n' "$1"; }

# fail prints one line on standard error and ends the script.
fail() {
	printf '%s: %s\n' "$(basename "$0")" "$1" >&2
	exit 1
}

# has_c reports whether Go's C compiler works: it is there, and so are the headers of the C library.
has_c() { printf '#include <stdlib.h>\n' | ${CC:-gcc} -E - >/dev/null 2>&1; }
