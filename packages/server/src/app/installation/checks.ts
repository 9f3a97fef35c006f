/**
 * Checks of the configuration and the installation, for `keyreeve doctor` and `GET /admin/settings`. Each reads a bounded number
 * of rows.
 */
import { statSync } from 'node:fs';
import { environmentMistakes, keyPrefixWarnings } from '../../modules/api-keys/key-prefixes.ts';
import { blockDetails } from '../../modules/audit-retention/block-details.ts';
import { findRetentionState, type RetentionState } from '../../modules/audit-retention/store.ts';
import { catalogueWarnings } from '../../modules/scope-catalogue/warnings.ts';
import type { Core } from '../../foundation/core.ts';
import { dayMs } from '../../foundation/clock.ts';
import { describeDatabase } from '../../foundation/database/database.ts';
import type { Db, SecondFile } from '../../foundation/database/db.ts';
import { durabilityOf, type Durability } from '../../foundation/database/durability.ts';
import { failoverStateOf, type FailoverState } from '../../foundation/database/failover.ts';
import { freePages, type FreePages } from '../../foundation/database/size.ts';
import { isUnavailable } from '../../foundation/database/unavailable.ts';
import { usagePathOf } from '../../foundation/database/usage-file.ts';
import { plural } from '../../foundation/plural.ts';
import { readTemplates } from '../../modules/mail/templates/templates.ts';
import { jobLateMs, type Outbox, type WaitingJobs } from '../../modules/outbox/outbox.ts';
import { signingKeyAgeDaysMax, type SigningKeys } from '../../modules/signing-keys/signing-keys.ts';
import type { Finding } from '../../modules/overview/attention.ts';
import type { Config } from '../configuration/config.ts';
import { warningsOf } from '../configuration/config-warnings.ts';
import { checkDisks } from './disk-check.ts';
import { checkVerifiers } from './verifier-check.ts';
import { masterKeyPath } from './earlier-installation.ts';
import { masterKeyChecks, rootKeyChecks } from '../key-files/master-key-checks.ts';
import { versionAndBuild } from '../version.ts';

export interface Check {
  readonly name: string;
  readonly state: 'ok' | 'note' | 'warning' | 'failed';
  readonly detail: string;
}

export interface CheckedInstallation extends Core {
  readonly config: Config;
  readonly outbox: Outbox;
  readonly signingKeys: SigningKeys;
}

export const runtimeCheck = (): Check => ({
  name: 'runtime',
  state: 'ok',
  detail: `Keyreeve ${versionAndBuild}, Node ${process.versions.node}, SQLite ${process.versions['sqlite'] ?? 'unknown'}`,
});

/** Without the database. */
export const configurationChecks = async (config: Config): Promise<Check[]> => [
  ...checkMasterKey(config),
  ...(await checkDisks(config)),
  ...checkExposure(config),
  ...checkMail(config),
  ...checkVerifiers(config),
];

/** @throws DomainError `unavailable` */
export async function installationChecks(installation: CheckedInstallation): Promise<Check[]> {
  const { clock, outbox, signingKeys } = installation;
  const keys = await signingKeys.list();
  const active = keys.find(({ state }) => state === 'active');
  const ageDays = active ? Math.floor((clock.now() - active.activatesAt) / dayMs) : 0;
  const isOld = ageDays > signingKeyAgeDaysMax;
  return [
    ...(await databaseChecks(installation)),
    ...(await masterKeyChecks(installation.db, clock.now())),
    ...(await rootKeyChecks(installation.db, clock.now())),
    {
      name: 'signing key',
      state: !active ? 'note' : isOld ? 'warning' : 'ok',
      detail: active
        ? `${active.kid} (${active.alg}) has signed for ${ageDays} days${isOld ? '; run `keyreeve signing-key rotate`' : ''}`
        : 'none; `serve` creates the first',
    },
    ...checkOutbox(await outbox.waiting()),
  ];
}

/** What the overview reports of the checks; it has items of its own for jobs and signing keys. @throws DomainError `unavailable` */
export const findingsOf = async (installation: Pick<CheckedInstallation, 'config' | 'db'>): Promise<Finding[]> =>
  [...(await databaseChecks(installation)), ...(await configurationChecks(installation.config))].flatMap(
    ({ name, state, detail }) => (state === 'warning' || state === 'failed' ? [{ name, state, detail }] : []),
  );

/** Of the database and of the settings that depend on its content. @throws DomainError `unavailable` */
export async function databaseChecks({ config, db }: Pick<CheckedInstallation, 'config' | 'db'>): Promise<Check[]> {
  return [
    {
      name: 'database',
      state: 'ok',
      detail: `${describeDatabase(config.database)} responds; its schema is current and its master key is correct`,
    },
    ...checkWrites(db),
    ...(db.usageFile ? await checkEmbedded(db, db.usageFile) : []),
    ...checkServer(config, await durabilityOf(db)),
    ...checkFailover(await failoverStateOf(db)),
    ...checkPooler(db),
    ...(await environmentMistakes(db, config)).map((detail): Check => ({
      name: 'environments',
      state: 'failed',
      detail,
    })),
    ...(await keyPrefixWarnings(db, config)).map((detail): Check => ({ name: 'key prefix', state: 'warning', detail })),
    ...(await catalogueWarnings(db, config)).map((detail): Check => ({ name: 'scopes', state: 'warning', detail })),
    ...checkRetention(config, await findRetentionState(db)),
  ];
}

function checkWrites({ writes }: Db): Check[] {
  if (writes.isHealthy) return [];
  const detail =
    'the database accepts no changes, so no key can be deleted. Check its disk: free space, and whether it is read-only';
  return [{ name: 'writes', state: 'failed', detail }];
}

async function checkEmbedded(db: Db, file: SecondFile): Promise<Check[]> {
  const main = await freePages(db);
  try {
    const usage = await freePages(file);
    const [bytes, freeBytes] = [main.bytes + usage.bytes, main.freeBytes + usage.freeBytes];
    const detail = `${file.path} responds and belongs to the database`;
    return [{ name: 'usage file', state: 'ok', detail }, checkFreePages({ bytes, freeBytes })];
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const reason = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    const detail = `${file.path} cannot be read or written${reason}. Verifications are not counted, lists show no last use, and no key is disabled as unused`;
    return [{ name: 'usage file', state: 'warning', detail }, checkFreePages(main)];
  }
}

/** Above both, compacting the file is worth its time. */
const freePercentMax = 25;
const freeMibMax = 10;

/** A retention that removes events leaves their pages free. */
export function checkFreePages({ bytes, freeBytes }: FreePages): Check {
  const percent = bytes === 0 ? 0 : Math.floor((100 * freeBytes) / bytes);
  const freeMib = Math.floor(freeBytes / 2 ** 20);
  if (percent <= freePercentMax || freeMib <= freeMibMax)
    return { name: 'free pages', state: 'ok', detail: `${percent} % of the database file is free for new rows` };
  const detail = `${percent} % of the database file (${freeMib} MiB) is free for new rows; \`keyreeve compact\` returns the space to the disk`;
  return { name: 'free pages', state: 'note', detail };
}

const checkOutbox = (waiting: readonly WaitingJobs[]): Check[] =>
  waiting
    .filter(({ oldestMs }) => oldestMs > jobLateMs)
    .map(({ kind, count, oldestMs }) => ({
      name: 'outbox',
      state: 'warning',
      detail: `${plural(count, kind)} waiting, the oldest for ${Math.floor(oldestMs / 60_000)} minutes; for the reason, read outbox_failed in the log`,
    }));

const runFailed =
  'the last run failed, or none has begun, so old audit events stay. If the service runs, read housekeeping_failed in its log';

function checkRetention({ auditDays }: Config, state: RetentionState | undefined): Check[] {
  if (auditDays === undefined) return [];
  const name = 'audit retention';
  // A run that fails is due again, and keeps the reason of an earlier one.
  if (state?.runAt === null) return [{ name, state: 'warning', detail: runFailed }];
  const blocked = state?.blocked;
  if (blocked) return [{ name, state: 'warning', detail: blockDetails[blocked] }];
  return [{ name, state: 'ok', detail: `audit events are removed after ${auditDays} days` }];
}

/** SQLite has no settings that affect durability. */
function checkServer({ database }: Config, { version: serverVersion, warnings }: Durability): Check[] {
  if (database.kind === 'sqlite') return [];
  const found = warnings.length === 0 ? ['acknowledged commits are on its disk'] : warnings;
  const state = warnings.length === 0 ? 'ok' : 'warning';
  return found.map((detail) => ({ name: 'server', state, detail: `PostgreSQL ${serverVersion}: ${detail}` }));
}

/** PostgreSQL shows the names, and not who may promote which standby. */
function checkFailover(state: FailoverState | undefined): Check[] {
  if (!state) return [];
  const { names, warnings } = state;
  const detail = `the standby in synchronous_standby_names (${names}) confirms writes. PostgreSQL does not show whether the orchestrator promotes no other: check its synchronous mode and its watchdog`;
  return [
    { name: 'failover', state: 'ok', detail },
    ...warnings.map((warning): Check => ({ name: 'failover', state: 'warning', detail: warning })),
  ];
}

/** One that does not keep sessions is refused when the database is opened. */
const checkPooler = ({ pooler }: Db): Check[] =>
  pooler === undefined
    ? []
    : [{ name: 'pooler', state: 'ok', detail: `${pooler} between Keyreeve and PostgreSQL, in session mode` }];

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
    { name: 'file modes', ...checkMode([database.path, usagePathOf(database.path)]) },
  ];
}

function checkMode(paths: readonly string[]): Pick<Check, 'state' | 'detail'> {
  const path = paths.find((one) => ((statSync(one, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0);
  return path !== undefined && process.platform !== 'win32'
    ? { state: 'failed', detail: `other users can read ${path}; run chmod 600 on it` }
    : { state: 'ok', detail: 'other users cannot read the database or the master key' };
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
