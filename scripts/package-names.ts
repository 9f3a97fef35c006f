/**
 * Whether the names `keyreeve` and `@keyreeve/…` belong to this project in the public registries of npm, Python and Go. Until then, no
 * document has a command that asks a registry for them: another person could register a name, and run code on the machines of readers.
 * `test/docs/registry-names.test.ts` searches the documents.
 */
export const areNamesOurs = false;
