/**
 * `keyreeve doctor`: prints the configuration and checks the installation. The checks in this file read whole tables or files,
 * so only this command runs them; `app/installation/checks.ts` has those that administrators can request too.
 */
import type { Command } from 'commander';
import { listUnconfirmedEmails } from '../modules/accounts/unconfirmed-email-store.ts';
import { latestExpiry } from '../modules/api-keys/expiry.ts';
import { countKeysBeyond } from '../modules/api-keys/store.ts';
import { manageScope } from '../modules/service-accounts/acting-store.ts';
import { listUnboundedManagementKeys } from '../modules/service-accounts/management-key-store.ts';
import { dayMs, systemClock } from '../foundation/clock.ts';
import { describeConfig, processEnvironment, readConfig, type Config } from '../app/configuration/config.ts';
import { configurationChecks, installationChecks, runtimeCheck, type Check } from '../app/installation/checks.ts';
import { instanceChecks } from '../app/key-files/master-key-checks.ts';
import {
  differingSettings,
  isOfMachine,
  settingsRecord,
  type SettingsRecord,
} from '../app/configuration/settings-record.ts';
import type { InstallationKeys } from '../foundation/crypto/master-key.ts';
import { isRunning } from '../modules/overview/attention.ts';
import { listAllInstances } from '../modules/overview/store.ts';
import type { Db } from '../foundation/database/db.ts';
import { findLastBackupAt } from '../foundation/database/installation.ts';
import { findSchemaState, type SchemaState } from '../foundation/database/migrate.ts';
import { oldestReleaseFor } from '../foundation/database/releases.ts';
import type { DeletionJournal } from '../modules/deletion-journal/deletion-journal.ts';
import { countPasskeysOfOtherRpIds } from '../modules/passkeys/store.ts';
import { CliCommand, type SetStatus } from './command.ts';
import { describeFailure } from './failure.ts';
import { plural, print, table, version, type OutputOptions } from './output.ts';
import { withInstallation } from './session.ts';
import { checkSingleSignOn } from './single-sign-on-check.ts';

/** Management keys without IP ranges should expire earlier. */
const managementKeyDaysMax = 90;
const idsShownMax = 10;
/** As of the alert KeyreeveBackupOld. */
const backupAgeDaysMax = 2;

export function doctorCommand(setStatus: SetStatus): Command {
  return new CliCommand('doctor')
    .group('operate')
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
      const { schema, checks: ofInstallation } = await checkInstallation();
      const checks = [runtimeCheck(), ...ofInstallation, ...(await configurationChecks(config))];
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
      print(options, { version, isHealthy, schema, configuration, checks }, text);
      setStatus(isHealthy ? 0 : 1);
    });
}

interface UsableSchema extends SchemaState {
  /** Null: no release, only later versions. */
  readonly oldestRelease: string | null;
}

interface CheckedDatabase {
  /** Null if this program cannot use the database. */
  readonly schema: UsableSchema | null;
  readonly checks: readonly Check[];
}

/** All checks that need the database. An error is the result of the check `database`. */
async function checkInstallation(): Promise<CheckedDatabase> {
  try {
    return await withInstallation(
      {},
      async ({ config, journal, outbox, signingKeys, singleSignOn, installation: { db, keys } }) => {
        // The result is a check.
        await db.writes.check().catch(() => undefined);
        const state = await findSchemaState(db);
        const schema = { ...state, oldestRelease: oldestReleaseFor(state.compatibleFrom) ?? null };
        const checks = [
          ...(await installationChecks({ config, db, clock: systemClock, outbox, signingKeys })),
          ...(await instanceChecks(db, systemClock.now())),
          ...(await checkSettings(db, keys)),
          describeSchema(schema),
          ...(await checkLifetimes(db, config)),
          ...(await checkManagementKeys(db)),
          ...(await checkPasskeys(db, config)),
          ...(await checkSingleSignOn(db, singleSignOn?.provider, config.mayAdministratorsUsePasswords)),
          ...(await checkDeletionJournal(journal)),
          ...(await checkBackupAge(db)),
          ...checkEmails(await listUnconfirmedEmails(db, idsShownMax + 1)),
        ];
        return { schema, checks };
      },
    );
  } catch (error) {
    return { schema: null, checks: [{ name: 'database', state: 'failed', detail: describeFailure(error) }] };
  }
}

/** Running instances with other settings than this command: it has another environment, or the instance was not restarted. */
async function checkSettings(db: Db, keys: Pick<InstallationKeys, 'settingsRecord'>): Promise<Check[]> {
  const own = settingsRecord(processEnvironment(), keys.settingsRecord);
  const running = (await listAllInstances(db)).filter((row) => isRunning(row, systemClock.now()));
  return running.flatMap(({ id, settings }) => {
    const names = differingSettings(own, JSON.parse(settings) as SettingsRecord);
    if (names.length === 0) return [];
    const detail = `${id} was started with other values than this command: ${names.join(', ')}. Restart it, or run the command with its environment (--env-file)`;
    return [{ name: 'settings of instances', state: names.every(isOfMachine) ? 'note' : 'warning', detail }];
  });
}

/** For a return to an earlier version: docs/upgrade.md. */
function describeSchema({ version: current, compatibleFrom, oldestRelease }: UsableSchema): Check {
  const oldest = oldestRelease === null ? 'no release yet' : `release ${oldestRelease} and later`;
  const detail = `schema ${current}; programs that support schema ${compatibleFrom} or later can use the database: ${oldest}`;
  return { name: 'schema', state: 'ok', detail };
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

/** Without a backup, another tool may make them. */
async function checkBackupAge(db: Db): Promise<Check[]> {
  const at = await findLastBackupAt(db);
  if (at === null || systemClock.now() - at <= backupAgeDaysMax * dayMs) return [];
  const detail = `the last one was made at ${new Date(at).toISOString()}, more than ${backupAgeDaysMax} days ago; run \`keyreeve backup\`, and read the log of the nightly run`;
  return [{ name: 'backup', state: 'warning', detail }];
}

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
