/**
 * `npm run versions`: writes the version of packages/server/package.json, the only place to edit, to the other files that name it, in the
 * spelling of each ecosystem. `test/docs/release.test.ts` compares them, and so does `npm run release`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Place {
  readonly path: string;
  /** Matches the versions only. */
  readonly pattern: RegExp;
  readonly spell: (version: string) => string;
}

/** SemVer, as npm, Helm and Go have it. */
const asItIs = (version: string): string => version;
/** As PEP 440 normalises it: `1.0.0-rc.1` becomes `1.0.0rc1`. */
export const pythonVersion = (version: string): string => version.replace(/-(a|b|rc)[a-z]*\.(\d+)$/, '$1$2');
/** Debian sorts `~` before the end: `1.0.0~rc.1` is older than `1.0.0`. */
export const debianVersion = (version: string): string => version.replace('-', '~');

export const versionPlaces: readonly Place[] = [
  {
    path: 'package-lock.json',
    pattern: /(?<="packages\/server": \{\s*"name": "keyreeve",\s*"version": ")[^"]+/g,
    spell: asItIs,
  },
  { path: 'packages/python/pyproject.toml', pattern: /(?<=^version = ")[^"]+/gm, spell: pythonVersion },
  { path: 'ops/helm/keyreeve/Chart.yaml', pattern: /(?<=^(?:version|appVersion): )\S+/gm, spell: asItIs },
  ...['docs/operating.md', 'docs/compose/compose.yaml'].map((path) => ({
    path,
    pattern: /(?<=localhost\/keyreeve:)\S+/g,
    spell: asItIs,
  })),
  ...['packages/go/README.md', 'docs/tutorials/gin.md'].map((path) => ({
    path,
    pattern: /(?<=-require \S+@v)\S+/g,
    spell: asItIs,
  })),
];

export const versionOf = (root: string): string =>
  (JSON.parse(read(root, 'packages/server/package.json')) as { version: string }).version;

/** @returns one sentence, with the remedy, for each file that does not name the version of packages/server */
export function otherVersions(root: string): readonly string[] {
  const version = versionOf(root);
  return versionPlaces.flatMap(({ path, pattern, spell }) => {
    const found = read(root, path).match(pattern) ?? ['none'];
    const other = found.find((each) => each !== spell(version));
    return other === undefined
      ? []
      : [`${path} has the version ${other}, not ${spell(version)}. Run \`npm run versions\`.`];
  });
}

const read = (root: string, path: string): string => readFileSync(join(root, path), 'utf8');

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  for (const { path, pattern, spell } of versionPlaces)
    writeFileSync(join(root, path), read(root, path).replaceAll(pattern, spell(versionOf(root))));
}
