/**
 * Whether the names `keyreeve` and `@keyreeve/…` belong to this project in the public registries of npm, Python and Go. Until then, no
 * document has a command that asks a registry for them: another person could register a name, and run code on the machines of readers.
 * `test/docs/registry-names.test.ts` searches the documents.
 */
export const areNamesOurs = false;

/**
 * The path of the Go module in a release: a parameter of the build, because the project has no repository of its own. Without it, the
 * path is that of the sources, which `go get` cannot find.
 * @throws Error for a malformed path
 */
export function goModulePath(path = process.env['KEYREEVE_GO_MODULE'] ?? 'keyreeve'): string {
  if (/^(?:keyreeve|[\w-]+(?:\.[\w-]+)+(?:\/[\w.-]+)+)$/.test(path)) return path;
  throw new Error('KEYREEVE_GO_MODULE: expected a path such as forge.example.com/keyreeve/keyreeve-go');
}
