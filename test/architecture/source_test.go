package architecture

import (
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// source is one package of ours with the types of its expressions.
type source struct {
	name  string // below tocsin/internal
	files []*ast.File
	info  *types.Info
	fset  *token.FileSet
}

// at returns the position of an expression as package/file.go:line.
func (s *source) at(n ast.Node) string {
	p := s.fset.Position(n.Pos())
	return s.name + "/" + filepath.Base(p.Filename) + ":" + itoa(p.Line)
}

// read returns all packages below internal except those that help tests, type-checked once for all tests. Imports
// come from the compiler's export data, so only the project's source is checked.
var read = sync.OnceValues(func() ([]*source, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "tocsin/internal/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
	}
	exports, ours := map[string]string{}, []listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, "tocsin/internal/") && !strings.HasSuffix(p.ImportPath, "test") {
			ours = append(ours, p)
		}
	}
	fset := token.NewFileSet()
	config := &types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	all := []*source{}
	for _, p := range ours {
		s := &source{name: strings.TrimPrefix(p.ImportPath, "tocsin/internal/"), fset: fset, info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
			Instances: map[*ast.Ident]types.Instance{}}}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				return nil, err
			}
			s.files = append(s.files, f)
		}
		if _, err := config.Check(p.ImportPath, fset, s.files, s.info); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
})

func sources(t *testing.T) []*source {
	t.Helper()
	all, err := read()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 40 {
		t.Fatalf("%d packages were read, want all of them", len(all))
	}
	return all
}
