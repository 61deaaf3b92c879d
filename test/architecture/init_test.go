package architecture

import (
	"go/ast"
	"testing"
)

// No package does something because it is linked: what the program does is in its list of modules and in constructors.
func TestNoPackageHasInit(t *testing.T) {
	for _, s := range sources(t) {
		for _, f := range s.files {
			for _, d := range f.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
					t.Errorf("%s: give what it does to a constructor or the package's Module", s.at(f))
				}
			}
		}
	}
}
