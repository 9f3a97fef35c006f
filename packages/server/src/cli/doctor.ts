/** `keyreeve doctor`: prints the configuration and checks the installation. */
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { listUnconfirmedEmails } from '../modules/accounts/unconfirmed-email-store.ts';
import { latestExpiry } from '../modules/api-keys/expiry.ts';
import { environmentMistakes, keyPrefixWarnings } from '../modules/api-keys/key-prefixes.ts';
import { catalogueWarnings } from '../modules/scope-catalogue/warnings.ts';
import { countKeysBeyond } from '../modules/api-keys/store.ts';
import { manageScope } from '../modules/service-accounts/acting-store.ts';
import { listUnboundedManagementKeys } from '../modules/service-accounts/management-key-store.ts';
import { dayMs, systemClock } from '../foundation/clock.ts';
import { describeConfig, processEnvironment, readConfig, type Config } from '../app/config.ts';
import { warningsOf } from '../app/config-warnings.ts';
import { describeDatabase } from '../foundation/database/database.ts';
import type { Db } from '../foundation/database/db.ts';
import { durabilityOf, type Durability } from '../foundation/database/durability.ts';
import type { DeletionJournal } from '../modules/deletion-journal/deletion-journal.ts';
import { masterKeyPath } from '../app/earlier-installation.ts';
import { readTemplates } from '../modules/mail/templates/templates.ts';
import type { WaitingJobs } from '../modules/outbox/outbox.ts';
import { countPasskeysOfOtherRpIds } from '../modules/passkeys/store.ts';
import { CliCommand, type SetStatus } from './command.ts';
import { describeFailure } from './failure.ts';
import { plural, print, table, version, type OutputOptions } from './output.ts';
import { withInstallation } from './session.ts';

interface Check {
  readonly name: string;
  readonly state: 'ok' | 'note' | 'warning' | 'failed';
  readonly detail: string;
}

/** An older signing key should be rotated (ASVS 11.1.1). */
const signingKeyAgeDaysMax = 180;
const outboxAgeMsMax = 900_000;
/** Management keys without IP ranges should expire earlier. */
const managementKeyDaysMax = 90;
const idsShownMax = 10;

export function doctorCommand(setStatus: SetStatus): Command {
  return new CliCommand('doctor')
    .description(
      'Print the settings in force, without secrets, and check the installation. Exits with status 1 if a check fails.',
    )
    .json()
    .examples('keyreeve doctor')
    .references('docs/operating.md', 'database', 'masterKey')
    .action(async (options: OutputOptions) => {
      const environment = processEnvironment();
      const config = readConfig(environment);
      const configuration = describeConfig(environment);
      const checks = [
        checkRuntime(),
        ...(await checkInstallation()),
        ...checkMasterKey(config),
        ...checkExposure(config),
        ...checkMail(config),
        ...checkWorkers(config),
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
      setStatus(isHealthy ? 0 : 1);
    });
}

const checkRuntime = (): Check => ({
  name: 'runtime',
  state: 'ok',
  detail: `Keyreeve ${version}, Node ${process.versions.node}, SQLite ${process.versions['sqlite'] ?? 'unknown'}`,
});

/** All checks that need the database. An error is the result of the check `database`. */
async function checkInstallation(): Promise<Check[]> {
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
          detail: `${describeDatabase(config.database)} responds; its schema is current and its master key is correct`,
        },
        ...checkServer(config, await durabilityOf(db)),
        ...(await environmentMistakes(db, config)).map((detail): Check => ({
          name: 'environments',
          state: 'failed',
          detail,
        })),
        ...(await keyPrefixWarnings(db, config)).map((detail): Check => ({
          name: 'key prefix',
          state: 'warning',
          detail,
        })),
        ...(await catalogueWarnings(db, config)).map((detail): Check => ({ name: 'scopes', state: 'warning', detail })),
        ...(await checkLifetimes(db, config)),
        ...(await checkManagementKeys(db)),
        ...(await checkPasskeys(db, config)),
        {
          name: 'signing key',
          state: !active ? 'note' : isOld ? 'warning' : 'ok',
          detail: active
            ? `${active.kid} (${active.alg}) has signed for ${ageDays} days${isOld ? '; run `keyreeve signing-key rotate`' : ''}`
            : 'none; `serve` creates the first',
        },
        ...(await checkDeletionJournal(journal)),
        ...checkEmails(await listUnconfirmedEmails(db, idsShownMax + 1)),
        ...checkOutbox(await outbox.waiting()),
      ];
    });
  } catch (error) {
    return [{ name: 'database', state: 'failed', detail: describeFailure(error) }];
  }
}

/** Keys from before the setting, and imported keys, keep their expiry. */
async function checkLifetimes(db: Db, { keyLifetimeDaysMax: daysMax }: Config): Promise<Check[]> {
  const latest = latestExpiry(systemClock.now(), daysMax);
  const count = latest === null ? 0 : await countKeysBeyond(db, latest);
  if (count === 0) return [];
  const detail = `${plural(count, 'key')} without an expiry, or with a later one than KEYREEVE_KEY_LIFETIME_DAYS_MAX allows (${daysMax} days): existing and imported keys keep their expiry until a change sets another one`;
  return [{ name: 'key lifetimes', state: 'note', detail }];
}

/** A stolen management key can create keys of all service accounts of its backend. */
async function checkManagementKeys(db: Db): Promise<Check[]> {
  const latest = systemClock.now() + managementKeyDaysMax * dayMs;
  const ids = await listUnboundedManagementKeys(db, latest, idsShownMax + 1);
  if (ids.length === 0) return [];
  const detail = `these keys have the scope ${manageScope}, no IP ranges, and no expiry within ${managementKeyDaysMax} days: ${shown(ids)}. Run \`keyreeve key change <id>\` with --address or --expires-at`;
  return [{ name: 'management keys', state: 'warning', detail }];
}

/** Browsers do not offer passkeys that were created for another rp id. */
async function checkPasskeys(db: Db, { passkeyRpId, consoleUrl, publicUrl }: Config): Promise<Check[]> {
  const rpId = passkeyRpId ?? new URL(consoleUrl ?? publicUrl ?? 'http://localhost').hostname;
  const count = await countPasskeysOfOtherRpIds(db, rpId);
  if (count === 0) return [];
  const detail = `${plural(count, 'passkey')} cannot sign in: created for another relying party id than ${rpId}. Set KEYREEVE_PASSKEY_RP_ID to the earlier one, or have their owners add new passkeys`;
  return [{ name: 'passkeys', state: 'warning', detail }];
}

/** @param ids at most {@link idsShownMax} + 1 */
const shown = (ids: readonly (string | number)[]): string =>
  `${ids.slice(0, idsShownMax).join(', ')}${ids.length > idsShownMax ? ' and more' : ''}`;

/** A damaged file is a warning. A `position.json` of another installation is a failure, because `serve` rejects it. */
async function checkDeletionJournal(journal: DeletionJournal | undefined): Promise<Check[]> {
  const name = 'deletion journal';
  try {
    const damage = (await journal?.findDamage()) ?? [];
    return damage.map(({ message }) => ({ name, state: 'warning', detail: message }));
  } catch (error) {
    return [{ name, state: 'failed', detail: describeFailure(error) }];
  }
}

/** Reports accounts whose email address a restore has replaced by an earlier one. */
function checkEmails(ids: readonly string[]): Check[] {
  if (ids.length === 0) return [];
  const detail = `after a restore, these accounts have an earlier email address: ${shown(ids)}. Password resets are not sent to it until the owner changes it or you run \`keyreeve account confirm-email\``;
  return [{ name: 'email addresses', state: 'warning', detail }];
}

/** The service starts jobs immediately. An old job has failed repeatedly, or no service runs. */
const checkOutbox = (waiting: readonly WaitingJobs[]): Check[] =>
  waiting
    .filter(({ oldestMs }) => oldestMs > outboxAgeMsMax)
    .map(({ kind, count, oldestMs }) => ({
      name: 'outbox',
      state: 'warning',
      detail: `${plural(count, kind)} waiting, the oldest for ${Math.floor(oldestMs / 60_000)} minutes; for the reason, read outbox_failed in the log`,
    }));

/** SQLite has no settings that affect durability. */
function checkServer({ database }: Config, { version: serverVersion, warnings }: Durability): Check[] {
  if (database.kind === 'sqlite') return [];
  const found = warnings.length === 0 ? ['acknowledged commits are on its disk'] : warnings;
  const state = warnings.length === 0 ? 'ok' : 'warning';
  return found.map((detail) => ({ name: 'server', state, detail: `PostgreSQL ${serverVersion}: ${detail}` }));
}

function checkMasterKey({ masterKey: given, database, publicUrl }: Config): Check[] {
  if (given || database.kind === 'postgres')
    return [{ name: 'master key', state: 'ok', detail: 'set by the configuration' }];
  const path = masterKeyPath(database.path);
  const isExposed = publicUrl?.startsWith('https:') ?? false;
  const detail = `in ${path}, beside the database: a copy of the folder contains both`;
  return [
    {
      name: 'master key',
      state: isExposed ? 'warning' : 'note',
      detail: isExposed ? `${detail}. Set KEYREEVE_MASTER_KEY_FILE` : detail,
    },
    // `openInstallation` has already checked the mode of the master key (secret-file.ts).
    { name: 'file modes', ...checkMode(database.path) },
  ];
}

function checkMode(path: string): Pick<Check, 'state' | 'detail'> {
  const found = statSync(path, { throwIfNoEntry: false });
  const isOpen = process.platform !== 'win32' && found !== undefined && (found.mode & 0o077) !== 0;
  return isOpen
    ? { state: 'failed', detail: `other users can read ${path}; run chmod 600 on it` }
    : { state: 'ok', detail: 'other users cannot read the database or the master key' };
}

/** One worker is the default and needs no check. */
function checkWorkers({ workers: count }: Config): Check[] {
  const cores = availableParallelism();
  if (count === 1) return [];
  return [
    count > cores
      ? {
          name: 'workers',
          state: 'warning',
          detail: `${count} on ${cores} cores: more workers than cores do not increase throughput`,
        }
      : { name: 'workers', state: 'ok', detail: `${count} on ${cores} cores` },
  ];
}

function checkMail({ smtpUrl, mailFrom = '', mailTemplates }: Config): Check[] {
  const { mistakes } = readTemplates(mailTemplates);
  const none = 'not configured: sign-up and password reset are not possible; set KEYREEVE_SMTP_URL';
  return [
    smtpUrl === undefined
      ? { name: 'mail', state: 'note', detail: none }
      : {
          name: 'mail',
          state: 'ok',
          detail: `${withoutPassword(smtpUrl)}, from ${mailFrom}; \`keyreeve mail test\` sends a test mail`,
        },
    ...mistakes.map((detail): Check => ({ name: 'mail template', state: 'failed', detail })),
  ];
}

function withoutPassword(text: string): string {
  const { protocol, host } = new URL(text);
  return `${protocol}//${host}`;
}

function checkExposure(config: Config): Check[] {
  const detail = config.publicUrl ?? 'http://localhost, only on this machine';
  return [
    { name: 'public address', state: 'ok', detail },
    ...warningsOf(config).map((warning): Check => ({ name: 'configuration', state: 'warning', detail: warning })),
  ];
}
