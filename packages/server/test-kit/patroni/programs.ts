/**
 * The programs of a PostgreSQL cluster that manages itself: Patroni (PyPI), and etcd, HAProxy and PostgreSQL of Debian. The
 * binaries of the development dependency lack `pg_basebackup` and `pg_rewind`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { postgresUser } from '../postgres/binaries.ts';
import { runEnvironment } from '../run-environment.ts';

export interface PatroniPrograms {
  readonly patroni: string;
  readonly etcd: string;
  readonly haproxy: string;
  /** The folder of PostgreSQL's programs. */
  readonly postgres: string;
}

const postgresFolder = '/usr/lib/postgresql';
const ofPostgres = ['initdb', 'postgres', 'pg_basebackup', 'pg_rewind'] as const;

const folders = (): string[] => [...runEnvironment.path.split(delimiter), '/usr/sbin', '/usr/local/sbin'];

/** PostgreSQL does not run as root, so neither does Patroni: its user must be able to run it. */
function findProgram(name: string, version: string): string | undefined {
  const user = postgresUser();
  return folders()
    .map((folder) => join(folder, name))
    .filter((path) => existsSync(path))
    .find((path) => spawnSync(path, [version], { ...user, cwd: '/', stdio: 'ignore' }).status === 0);
}

function findPostgresFolder(): string | undefined {
  const versions = existsSync(postgresFolder) ? readdirSync(postgresFolder) : [];
  return versions
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(postgresFolder, version, 'bin'))
    .find((bin) => ofPostgres.every((name) => existsSync(join(bin, name))));
}

/** @returns the programs, or the names of those that are missing */
export function findPatroni(): PatroniPrograms | readonly string[] {
  const found = {
    patroni: findProgram('patroni', '--version'),
    etcd: findProgram('etcd', '--version'),
    haproxy: findProgram('haproxy', '-v'),
    postgres: findPostgresFolder(),
  };
  const missing = Object.entries(found).flatMap(([name, path]) => (path === undefined ? [name] : []));
  return missing.length > 0 ? missing : (found as PatroniPrograms);
}

/** Why the tests are not tried; false where they are. Under CI they run, and fail without the programs. */
export function skipWithoutPatroni(): string | false {
  if (runEnvironment.needsPrograms) return false;
  const found = findPatroni();
  return 'patroni' in found ? false : `not tried: this machine lacks ${found.join(', ')}`;
}
