/**
 * Modules and files of the program that most commands do not need, so that a command starts without them. A service loads all of them
 * before it is ready: an upgrade can remove or replace the files of a running program.
 */
const loaders: (() => unknown)[] = [];

/**
 * To be called by a module that needs another one later.
 * @returns loads it once. After a failure, the next call tries again
 */
export function lazily<T>(load: () => T): () => T {
  let loaded: { readonly value: T } | undefined;
  const get = (): T => {
    if (loaded) return loaded.value;
    const { value } = (loaded = { value: load() });
    if (value instanceof Promise) value.catch(() => (loaded = undefined));
    return value;
  };
  loaders.push(get);
  return get;
}

/** Loads everything that the imported modules need later. @throws Error if a file cannot be loaded */
export async function loadLazyModules(): Promise<void> {
  await Promise.all(loaders.map((load) => load()));
}
