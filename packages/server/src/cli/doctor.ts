/** `keyreeve doctor`: the configuration that is in force, and whether the installation is in order. */
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { systemClock } from '../clock.ts';
import { describeConfig, processEnvironment, readConfig, warningsOf, type Config } from '../config.ts';
import { describeDatabase } from '../db/database.ts';
import { durabilityOf, type Durability } from '../db/durability.ts';
import { masterKeyPath } from '../installation.ts';
import { describeFailure } from './failure.ts';
import { jsonHelp, print, table, version, type OutputOptions } from './output.ts';
import { withInstallation } from './session.ts';

interface Check {
  readonly name: string;
  readonly state: 'ok' | 'note' | 'warning' | 'failed';
  readonly detail: string;
}

const dayMs = 86_400_000;
/** Keys older than this should be rotated (ASVS 11.1.1). */
const signingKeyAgeDaysMax = 180;

export function doctorCommand(exitWith: (status: number) => void): Command {
  return new Command('doctor')
    .description('Show the configuration in force, without secrets, and check the installation.')
    .option('--json', jsonHelp)
    .action(async (options: OutputOptions) => {
      const environment = processEnvironment();
      const config = readConfig(environment);
      const configuration = describeConfig(environment);
      const checks = [
        runtime(),
        ...(await installation()),
        ...masterKey(config),
        ...exposure(config),
        ...workers(config),
      ];
      const isHealthy = checks.every(({ state }) => state !== 'failed');
      const text = [
        table(
          ['VARIABLE', 'VALUE', 'FROM'],
          configuration.map(({ name, value, source }) => [name, value, source]),
        ),
        table(
          ['CHECK', 'STATE', 'DETAIL'],
          checks.map(({ name, state, detail }) => [name, state, detail]),
        ),
      ].join('\n\n');
      print(options, { version, isHealthy, configuration, checks }, text);
      exitWith(isHealthy ? 0 : 1);
    });
}

const runtime = (): Check => ({
  name: 'runtime',
  state: 'ok',
  detail: `Keyreeve ${version}, Node ${process.versions.node}, SQLite ${process.versions['sqlite'] ?? 'unknown'}`,
});

/** Everything that needs the database; a failure is a finding, not a crash. */
async function installation(): Promise<Check[]> {
  try {
    return await withInstallation({}, async ({ config, signingKeys, installation: { db } }) => {
      const keys = await signingKeys.list();
      const active = keys.find(({ state }) => state === 'active');
      const ageDays = active ? Math.floor((systemClock.now() - active.activatesAt) / dayMs) : 0;
      const isOld = ageDays > signingKeyAgeDaysMax;
      return [
        {
          name: 'database',
          state: 'ok',
          detail: `${describeDatabase(config.database)} answers, its schema is up to date, its master key fits`,
        },
        ...server(config, await durabilityOf(db)),
        {
          name: 'signing key',
          state: !active ? 'note' : isOld ? 'warning' : 'ok',
          detail: active
            ? `${active.kid} (${active.alg}) has signed for ${ageDays} days${isOld ? '; rotate it' : ''}`
            : 'none yet; `serve` makes the first',
        },
      ];
    });
  } catch (error) {
    return [{ name: 'database', state: 'failed', detail: describeFailure(error) }];
  }
}

/** Of the embedded database nothing can be set. */
function server({ database }: Config, { version: serverVersion, warnings }: Durability): Check[] {
  if (database.kind === 'sqlite') return [];
  const found = warnings.length === 0 ? ['what is acknowledged has reached its disk'] : warnings;
  const state = warnings.length === 0 ? 'ok' : 'warning';
  return found.map((detail) => ({ name: 'server', state, detail: `PostgreSQL ${serverVersion}: ${detail}` }));
}

function masterKey({ masterKey: given, database, publicUrl }: Config): Check[] {
  if (given || database.kind === 'postgres')
    return [{ name: 'master key', state: 'ok', detail: 'given by the configuration' }];
  const path = masterKeyPath(database.path);
  const isExposed = publicUrl?.startsWith('https:') ?? false;
  const detail = `kept beside the database in ${path}: whoever copies the folder has both`;
  return [
    {
      name: 'master key',
      state: isExposed ? 'warning' : 'note',
      detail: isExposed ? `${detail}. Set KEYREEVE_MASTER_KEY_FILE` : detail,
    },
    { name: 'file modes', ...modes([database.path, path]) },
  ];
}

function modes(paths: readonly string[]): Pick<Check, 'state' | 'detail'> {
  const open = paths.filter((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    return process.platform !== 'win32' && found !== undefined && (found.mode & 0o077) !== 0;
  });
  return open.length === 0
    ? { state: 'ok', detail: 'only this user can read the database and the master key' }
    : { state: 'failed', detail: `others can read ${open.join(', ')}; chmod 600` };
}

/** One is the ordinary case and says nothing. */
function workers({ workers: count }: Config): Check[] {
  const cores = availableParallelism();
  if (count === 1) return [];
  return [
    count > cores
      ? { name: 'workers', state: 'warning', detail: `${count} on ${cores} cores: more than cores gain nothing` }
      : { name: 'workers', state: 'ok', detail: `${count} on ${cores} cores` },
  ];
}

function exposure(config: Config): Check[] {
  const detail = config.publicUrl ?? 'http://localhost, for this machine only';
  return [
    { name: 'public address', state: 'ok', detail },
    ...warningsOf(config).map((warning): Check => ({ name: 'configuration', state: 'warning', detail: warning })),
  ];
}
