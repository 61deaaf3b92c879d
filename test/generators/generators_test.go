// Package generators tests that others generate clients from the document: oapi-codegen and ogen, which are tools of this
// module, and openapi-typescript, with the linters redocly and spectral, which npm installs. What is generated must compile.
// It is a module of its own, so that none of them is among the product's dependencies.
package generators

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/go-faster/errors" // what the generated clients import
	_ "github.com/go-faster/jx"
	_ "github.com/oapi-codegen/runtime"
	_ "github.com/ogen-go/ogen/validate"

	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
)

// document writes the program's OpenAPI document into a new folder of this module, and returns the folder.
func document(t *testing.T) string {
	t.Helper()
	a, err := app.New(context.Background(), app.Config{
		DB: "sqlite:" + filepath.Join(t.TempDir(), "tocsin.db"), SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"),
		Clock: clock.System, Log: slog.New(slog.DiscardHandler), Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	text, err := a.Frame.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp(".", "generated")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.WriteFile(filepath.Join(folder, "openapi.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// run runs a program in a folder. It must succeed.
func run(t *testing.T, folder, program string, args ...string) {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir = folder
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%.4000s", program, strings.Join(args, " "), err, out)
	}
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOapiCodegenClientCompiles(t *testing.T) {
	folder := document(t)
	run(t, folder, "go", "tool", "oapi-codegen", "-package", "client", "-generate", "types,client", "-o", "client.go", "openapi.json")
	write(t, folder, "client_test.go", `package client

import "testing"

func TestTypes(t *testing.T) {
	name := "Production"
	create := ScheduleCreateJSONRequestBody{ScheduleName: &name}
	t.Log(create)
	var person int64 = 2476123212131
	_ = PersonInfosJSONRequestBody{PersonIds: []int64{person}}
	var read ScheduleInfoResponse
	if read.JSON404 != nil && read.JSON404.Error.Code == ErrorBodyCodeResourceNotFound {
		t.Error("missing")
	}
	if read.JSON200 != nil {
		var start int64 = (*read.JSON200.Data.Layers)[0].LayerStart // every member of a reply is there
		t.Log(start)
	}
}
`)
	run(t, folder, "go", "vet", ".")
}

func TestOgenClientCompiles(t *testing.T) {
	folder := document(t)
	write(t, folder, "ogen.yml", "generator:\n  features:\n    disable_all: true\n    enable: [paths/client, client/request/validation]\n")
	run(t, folder, "go", "tool", "ogen", "--config", "ogen.yml", "--package", "client", "--target", ".", "openapi.json")
	run(t, folder, "go", "build", ".")
}

// npm returns the folder of the programs that npm installs. Without npm the test is skipped.
func npm(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is missing: apt-get install npm")
	}
	run(t, ".", "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock")
	folder, err := filepath.Abs("node_modules/.bin")
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestTypeScriptTypesCompile(t *testing.T) {
	bin, folder := npm(t), document(t)
	run(t, folder, filepath.Join(bin, "openapi-typescript"), "openapi.json", "-o", "client.ts")
	write(t, folder, "use.ts", `import type { operations } from "./client";
type Request = operations["schedule-create"]["requestBody"]["content"]["application/json"];
export const unnamed: Request = { schedule_name: null, name: "Production", layers: null };
type Failure = operations["schedule-info"]["responses"][404]["content"]["application/json"];
export const isMissing = (f: Failure) => f.error.code === "ResourceNotFound";
`)
	run(t, folder, filepath.Join(bin, "tsc"), "--strict", "--noEmit", "--skipLibCheck", "use.ts")
}

func TestLintersFindNoError(t *testing.T) {
	bin, folder := npm(t), document(t)
	write(t, folder, "redocly.yaml", "extends: [recommended]\n")
	run(t, folder, filepath.Join(bin, "redocly"), "lint", "openapi.json", "--format", "summary")
	write(t, folder, ".spectral.yaml", "extends: [\"spectral:oas\"]\n")
	run(t, folder, filepath.Join(bin, "spectral"), "lint", "openapi.json", "--fail-severity", "error", "--quiet")
}
