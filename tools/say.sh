# Shared by the project's shell scripts.

# say prints a heading.
say() { printf '== %s\n' "$1"; }

# fail prints one line on standard error and ends the script.
fail() {
	printf '%s: %s\n' "$(basename "$0")" "$1" >&2
	exit 1
}
