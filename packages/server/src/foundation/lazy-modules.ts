/**
 * Modules and files of the program that most commands and many services do not need, so that they start without them. A service reads
 * all of them before it is ready: an upgrade can remove or replace the files of a running program.
 */
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { ownFile } from './own-files.ts';

interface Loader {
  readonly load: () => unknown;
  /** Whether it imports only files of the program. */
  readonly isImport: boolean;
}

const loaders: Loader[] = [];
/** Of a build: the files that are imported after the start, one a line. Written by `build.ts`. */
const list = ownFile('imported-later');

/**
 * To be called by a module that needs another file or package later. A service loads it at the start.
 * @returns loads it once. After a failure, the next call tries again
 */
export const lazily = <T>(load: () => T): (() => T) => register(load, false);

/**
 * To be called by a module that imports another one later. A service that runs a build keeps its text from the start: parsed, the modules
 * take 20 MiB and 0.3 s.
 * @returns imports it once. After a failure, the next call tries again
 */
export const lazyImport = <T>(load: () => Promise<T>): (() => Promise<T>) => register(load, true);

function register<T>(load: () => T, isImport: boolean): () => T {
  let loaded: { readonly value: T } | undefined;
  const get = (): T => {
    if (loaded) return loaded.value;
    const { value } = (loaded = { value: load() });
    if (value instanceof Promise) value.catch(() => (loaded = undefined));
    return value;
  };
  loaders.push({ load: get, isImport });
  return get;
}

/** Reads everything that the imported modules need later. @throws Error if a file cannot be read */
export async function loadLazyModules(): Promise<void> {
  const isKept = existsSync(list);
  if (isKept && loaders.some(({ isImport }) => isImport)) keepImports();
  await Promise.all(loaders.filter(({ isImport }) => !isImport || !isKept).map(({ load }) => load()));
}

/** Names of files in a build have hashes of their contents, so a file that is loaded already is the one that an import means. */
function keepImports(): void {
  const files = readFileSync(list, 'utf8').trimEnd().split('\n').map(ownFile);
  const texts = new Map(files.map((file) => [file.href, readFileSync(file)]));
  const program = ownFile('').href;
  registerHooks({
    resolve(specifier, context, next) {
      const isOwn = specifier.startsWith('.') && context.parentURL?.startsWith(program) === true;
      if (!isOwn) return next(specifier, context);
      return { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true };
    },
    load(url, context, next) {
      const source = texts.get(url);
      return source ? { format: 'module', source, shortCircuit: true } : next(url, context);
    },
  });
}
