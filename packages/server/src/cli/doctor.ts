/** `keyreeve doctor`: the configuration that is in force, and whether the installation is in order. */
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { listUnconfirmedEmails } from '../modules/accounts/unconfirmed-email-store.ts';
import { keyPrefixWarnings } from '../modules/api-keys/key-prefixes.ts';
import { systemClock } from '../foundation/clock.ts';
import { describeConfig, processEnvironment, readConfig, type Config } from '../app/config.ts';
import { warningsOf } from '../app/config-warnings.ts';
import { describeDatabase } from '../foundation/database/database.ts';
import { durabilityOf, type Durability } from '../foundation/database/durability.ts';
import type { DeletionJournal } from '../modules/deletion-journal/deletion-journal.ts';
import { masterKeyPath } from '../app/earlier-installation.ts';
import { readTemplates } from '../modules/mail/templates/templates.ts';
import type { WaitingJobs } from '../modules/outbox/outbox.ts';
import { describeFailure } from './failure.ts';
import { jsonHelp, plural, print, table, version, type OutputOptions } from './output.ts';
import { withInstallation } from './session.ts';

interface Check {
  readonly name: string;
  readonly state: 'ok' | 'note' | 'warning' | 'failed';
  readonly detail: string;
}

const dayMs = 86_400_000;
/** Keys older than this should be rotated (ASVS 11.1.1). */
const signingKeyAgeDaysMax = 180;
const outboxAgeMsMax = 900_000;
const unconfirmedShownMax = 10;

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
        ...mail(config),
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
    return await withInstallation({}, async ({ config, journal, outbox, signingKeys, installation: { db } }) => {
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
        ...(await keyPrefixWarnings(db, config)).map((detail): Check => ({
          name: 'key prefix',
          state: 'warning',
          detail,
        })),
        {
          name: 'signing key',
          state: !active ? 'note' : isOld ? 'warning' : 'ok',
          detail: active
            ? `${active.kid} (${active.alg}) has signed for ${ageDays} days${isOld ? '; rotate it' : ''}`
            : 'none yet; `serve` makes the first',
        },
        ...(await deletionJournal(journal)),
        ...unconfirmed(await listUnconfirmedEmails(db, unconfirmedShownMax + 1)),
        ...late(await outbox.waiting()),
      ];
    });
  } catch (error) {
    return [{ name: 'database', state: 'failed', detail: describeFailure(error) }];
  }
}

/** A damaged file does not stop the service; a `position.json` of another installation does. */
async function deletionJournal(journal: DeletionJournal | undefined): Promise<Check[]> {
  const name = 'deletion journal';
  try {
    const damage = (await journal?.findDamage()) ?? [];
    return damage.map(({ message }) => ({ name, state: 'warning', detail: message }));
  } catch (error) {
    return [{ name, state: 'failed', detail: describeFailure(error) }];
  }
}

/** After a restore; see `unconfirmed-emails/store.ts`. */
function unconfirmed(ids: readonly string[]): Check[] {
  if (ids.length === 0) return [];
  const shown = ids.slice(0, unconfirmedShownMax).join(', ');
  const more = ids.length > unconfirmedShownMax ? ' and more' : '';
  const detail = `a restore brought back earlier email addresses of ${shown}${more}: no password reset is sent there until the owner changes the address, or you run \`account confirm-email\``;
  return [{ name: 'email addresses', state: 'warning', detail }];
}

/** The service sends at once; what is old has failed again and again, or no service runs. */
const late = (waiting: readonly WaitingJobs[]): Check[] =>
  waiting
    .filter(({ oldestMs }) => oldestMs > outboxAgeMsMax)
    .map(({ kind, count, oldestMs }) => ({
      name: 'outbox',
      state: 'warning',
      detail: `${plural(count, kind)} waiting, the oldest for ${Math.floor(oldestMs / 60_000)} minutes; the log says why (outbox_failed)`,
    }));

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
    // Opening the installation has refused a master key that others can read (secret-file.ts).
    { name: 'file modes', ...modes(database.path) },
  ];
}

function modes(path: string): Pick<Check, 'state' | 'detail'> {
  const found = statSync(path, { throwIfNoEntry: false });
  const isOpen = process.platform !== 'win32' && found !== undefined && (found.mode & 0o077) !== 0;
  return isOpen
    ? { state: 'failed', detail: `others can read ${path}; chmod 600` }
    : { state: 'ok', detail: 'others can read neither the database nor the master key' };
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

function mail({ smtpUrl, mailFrom = '', mailTemplates }: Config): Check[] {
  const { mistakes } = readTemplates(mailTemplates);
  const none = 'none is sent: nobody can sign up or reset a forgotten password; set KEYREEVE_SMTP_URL';
  return [
    smtpUrl === undefined
      ? { name: 'mail', state: 'note', detail: none }
      : {
          name: 'mail',
          state: 'ok',
          detail: `by ${withoutPassword(smtpUrl)} from ${mailFrom}; \`mail test\` tries it`,
        },
    ...mistakes.map((detail): Check => ({ name: 'mail template', state: 'failed', detail })),
  ];
}

function withoutPassword(text: string): string {
  const { protocol, host } = new URL(text);
  return `${protocol}//${host}`;
}

function exposure(config: Config): Check[] {
  const detail = config.publicUrl ?? 'http://localhost, for this machine only';
  return [
    { name: 'public address', state: 'ok', detail },
    ...warningsOf(config).map((warning): Check => ({ name: 'configuration', state: 'warning', detail: warning })),
  ];
}
