/** The package.json of the npm package, and the lock file of its dependencies, from those of the workspace. */

export interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>> | undefined;
  readonly optionalDependencies?: Readonly<Record<string, string>> | undefined;
  readonly [member: string]: unknown;
}

/** The part of package-lock.json (version 3) that is read. */
export interface LockFile {
  readonly name?: unknown;
  readonly version?: string;
  readonly lockfileVersion: number;
  /** By path below the root, such as `node_modules/pg`. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export interface LockedPackage {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>> | undefined;
  readonly optionalDependencies?: Readonly<Record<string, string>> | undefined;
  readonly peerDependencies?: Readonly<Record<string, string>> | undefined;
  readonly [member: string]: unknown;
}

/**
 * The manifest of the package. It has no development dependencies, and no packages that are in the build. The bundled Node is its
 * optional dependency, as it is one of the workspace.
 * @param external names of the dependencies that are not in the build
 */
export function packageManifest(server: Manifest, workspace: Manifest, external: readonly string[]): Manifest {
  const { private: _private, devDependencies: _development, dependencies = {}, ...rest } = server;
  return {
    ...rest,
    description: workspace['description'],
    // As in the checkout: `npx` finds the bundled Node first, also where it cannot run.
    scripts: { postinstall: 'node -e 0 || "$npm_node_execpath" bin/use-own-node.js' },
    exports: { './package.json': './package.json' },
    imports: { '#console/*': './console/*', '#guides/*': './guides/*' },
    dependencies: Object.fromEntries(Object.entries(dependencies).filter(([name]) => external.includes(name))),
    ...(workspace.optionalDependencies && { optionalDependencies: workspace.optionalDependencies }),
  };
}

/**
 * The lock file of the package's dependencies: those that the tests ran with.
 * @throws Error if the workspace's lock file has another version, or a dependency of production below `packages/`
 */
export function packageLock(
  manifest: Manifest,
  { lockfileVersion, packages }: LockFile,
  folder = 'packages/server',
): LockFile {
  if (lockfileVersion !== 3) throw new Error(`package-lock.json has version ${lockfileVersion}, not 3`);
  // Without its peers, which the programs of users install.
  const needed = pathsOf(folder, { ...manifest, peerDependencies: undefined }, packages);
  const installed = Object.entries(packages).filter(([path]) => needed.has(path));
  const nested = installed.find(([path]) => !path.startsWith('node_modules/'));
  if (nested) throw new Error(`${nested[0]} is below packages/; it must be below node_modules/ (npm dedupe)`);
  const { name, version, license, dependencies, optionalDependencies } = manifest;
  return {
    name,
    version,
    lockfileVersion,
    packages: {
      '': { name, version, license, dependencies, optionalDependencies },
      ...Object.fromEntries(installed),
    },
  };
}

/** The places of the package's dependencies, and of theirs: not of those of other packages of the workspace. */
function pathsOf(folder: string, manifest: LockedPackage, packages: LockFile['packages']): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (from: string, { dependencies, optionalDependencies, peerDependencies }: LockedPackage): void => {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const path = placeOf(from, name, packages);
      const locked = path === undefined ? undefined : packages[path];
      if (path === undefined || locked === undefined || found.has(path)) continue;
      found.add(path);
      add(path, locked);
    }
  };
  add(folder, manifest);
  return found;
}

/** As Node finds it: in the nearest `node_modules`. Undefined for an optional dependency that is not locked. */
function placeOf(from: string, name: string, packages: LockFile['packages']): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = `${folder}${folder === '' ? '' : '/'}node_modules/${name}`;
    if (path in packages) return path;
    if (folder === '') return undefined;
  }
}
