// A program that checks the types of the library for the system in GOOS. It reads the sources of the standard library: compiling them
// for each system would take a minute of processor time.
package main

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"log"
	"path/filepath"
)

func main() {
	found, err := build.ImportDir(".", 0)
	if err != nil {
		log.Fatal(err)
	}
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range found.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(found.Dir, name), nil, 0)
		if err != nil {
			log.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	config := types.Config{
		GoVersion: "go1.22",
		Importer:  importer.ForCompiler(files, "source", nil),
		Sizes:     types.SizesFor("gc", build.Default.GOARCH),
	}
	if _, err := config.Check("keyreeve", files, parsed, nil); err != nil {
		log.Fatal(err)
	}
	log.SetFlags(0)
	log.Printf("%s: %v", build.Default.GOOS, found.GoFiles)
}
