/** Imports accounts of another system with their password hashes. */
import { encodeImportRecord } from '../accounts/import-record.ts';
import { findExistingAccounts, type ExistingAccount } from '../accounts/import-store.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import type { Act, Principal } from '../../foundation/principal.ts';
import { randomId } from '../../foundation/crypto/secret.ts';
import type { Sealer } from '../../foundation/crypto/seal.ts';
import type { PasswordHasher } from '../../foundation/crypto/password.ts';
import type { Db } from '../../foundation/database/db.ts';
import { currentStep } from '../second-factors/totp.ts';
import { importAccounts, recordUpdates, schemeOf, type AccountToImport, type WrittenAccount } from './account-store.ts';
import { newRecord, planUpdate, type UpdatePlan } from './account-update.ts';
import { PasswordHashes, type PasswordHashOptions } from './password-hashes.ts';
import { readAccount, type AccountLine } from './account-line.ts';
import { LineRejectedError, SeenLines, type Importer, type Numbered, type Outcome } from './run-import.ts';

/** Which account here an account of the other system has become. */
export interface MappedAccount {
  /** Id in the other system; null if the file does not have it. */
  readonly oldId: string | null;
  readonly email: string;
  readonly id: string;
}

export interface AccountImportOptions extends RecordingCore {
  readonly hasher: PasswordHasher;
  readonly isDryRun: boolean;
  /** Whether a line whose email address already has an account is skipped or rejected, or updates an imported account. */
  readonly onExisting: 'skip' | 'fail' | 'update';
  /** Whether an email address counts as verified if the file does not state it. Default: it does. */
  readonly isVerifiedByDefault?: boolean;
  /** Seals secrets of authenticator apps. Without it, a line with such a secret is rejected. */
  readonly factorSeal?: Sealer;
  /** Called after the commit of each batch, in the order of the lines; not in a dry run. */
  readonly onMapped?: (accounts: readonly MappedAccount[]) => Promise<void>;
  readonly passwordHashes?: PasswordHashOptions;
}

const keptReasons = {
  'not imported': 'no import has created the account that exists, so it is not updated',
  'changed here': 'the account has changed here since its import, so it is not updated',
} as const;

export function accountImporter(principal: Principal, options: AccountImportOptions): Importer<AccountLine> {
  const { db, clock, hasher, isDryRun, onExisting, isVerifiedByDefault = true } = options;
  const emails = new SeenLines('email');
  const hashes = new PasswordHashes(hasher, options.passwordHashes ?? {});
  const outcomeOf = (plan: UpdatePlan, warn: (reason: string) => void): Outcome => {
    if (onExisting === 'fail') return new LineRejectedError('an account with this email address already exists');
    if (plan === 'same') return 'existing';
    const isUpdate = onExisting === 'update';
    if (typeof plan === 'object' && isUpdate) return 'updated';
    if (typeof plan === 'object')
      warn('the file has changed since the import of the account; --update takes the changes');
    else if (isUpdate) warn(keptReasons[plan]);
    return plan === 'not imported' ? 'existing' : 'changed';
  };
  return {
    read(line, object, warn) {
      const account = readAccount(object, { hashes, now: clock.now(), isVerifiedByDefault }, warn);
      if (account.totpSecret !== undefined && !options.factorSeal)
        throw new LineRejectedError('secrets of authenticator apps cannot be imported here');
      emails.add(account.canonicalEmail, line);
      return account;
    },
    async write(items: readonly Numbered<AccountLine>[], warn): Promise<readonly Outcome[]> {
      const read = items.map(({ item }) => item);
      const now = clock.now();
      const planFor = (line: AccountLine, existing: ExistingAccount): UpdatePlan =>
        planUpdate(line, existing, hasher, now);
      const lines = isDryRun ? read : await wrapHashes(db, hashes, read, planFor);
      if (isDryRun) {
        const existing = await findExistingAccounts(
          db,
          lines.map(({ canonicalEmail }) => canonicalEmail),
        );
        return lines.map((line, index) => {
          const account = existing.get(line.canonicalEmail);
          return account ? outcomeOf(planFor(line, account), (reason) => warn(index, reason)) : 'imported';
        });
      }
      const written = await writeAccounts({ principal, now }, lines, options, planFor);
      const outcomes = lines.map(({ canonicalEmail }, index) => {
        const plan = written.get(canonicalEmail)?.plan;
        return plan === undefined ? 'imported' : outcomeOf(plan, (reason) => warn(index, reason));
      });
      if (!options.onMapped) return outcomes;
      const mapped = lines.flatMap(({ email, oldId = null, canonicalEmail, unverifiedSince }, index) => {
        const [account, outcome] = [written.get(canonicalEmail), outcomes[index]];
        if (!account || outcome instanceof LineRejectedError) return [];
        // The other system did not verify that the user owns the address. The map would give the user's keys to the account here.
        if (unverifiedSince !== null && account.plan !== undefined) {
          warn(index, 'the email address is unverified in the file and has an account here, so the map omits it');
          return [];
        }
        return [{ oldId, email, id: account.id }];
      });
      await options.onMapped(mapped);
      return outcomes;
    },
    traitsOf,
    notes: () => hashes.notes(db),
  };
}

/**
 * Wraps the hashes that are written: a repeated import does not wrap those of existing accounts again. If such an account is
 * deleted meanwhile, the new one has no password.
 */
async function wrapHashes(
  db: Db,
  hashes: PasswordHashes,
  lines: readonly AccountLine[],
  planFor: (line: AccountLine, existing: ExistingAccount) => UpdatePlan,
): Promise<readonly AccountLine[]> {
  const open = lines.filter(({ unwrappedHash }) => unwrappedHash !== undefined);
  if (open.length === 0) return lines;
  const existing = await findExistingAccounts(
    db,
    open.map(({ canonicalEmail }) => canonicalEmail),
  );
  const isWritten = (line: AccountLine): boolean => {
    const account = existing.get(line.canonicalEmail);
    return account === undefined || typeof planFor(line, account) === 'object';
  };
  const written = open.filter(isWritten);
  const wrapped = await hashes.wrap(written.map(({ unwrappedHash = '' }) => unwrappedHash));
  const hashOf = new Map(written.map(({ canonicalEmail }, index) => [canonicalEmail, wrapped[index] ?? '']));
  return lines.map((line) =>
    line.unwrappedHash === undefined ? line : { ...line, passwordHash: hashOf.get(line.canonicalEmail) ?? '' },
  );
}

const traitsOf = ({ passwordHash, totpSecret, disabledAt, unverifiedSince }: AccountLine): readonly string[] => [
  passwordHash === '' ? 'without a password' : `with a password in ${schemeOf(passwordHash)}`,
  ...(totpSecret === undefined ? [] : ['with an authenticator app']),
  ...(unverifiedSince === null ? [] : ['unverified']),
  ...(disabledAt === null ? [] : ['disabled']),
];

async function writeAccounts(
  { principal, now }: Act,
  lines: readonly AccountLine[],
  { db, hasher, onExisting, revocations, factorSeal }: AccountImportOptions,
  planFor: (line: AccountLine, existing: ExistingAccount) => UpdatePlan,
): Promise<ReadonlyMap<string, WrittenAccount>> {
  const accounts = lines.map((line): AccountToImport => {
    const { email, canonicalEmail, passwordHash, createdAt, disabledAt, unverifiedSince } = line;
    const importRecord = encodeImportRecord(newRecord(line, hasher, now));
    const row = { email, canonicalEmail, passwordHash, createdAt, disabledAt, unverifiedSince, importRecord };
    const id = randomId('acc');
    const sealed = line.totpSecret === undefined ? undefined : factorSeal?.seal(id, line.totpSecret);
    const factor = sealed && { sealed, step: currentStep(now) };
    return { row: { id, ...row }, factor, planFor: (existing) => planFor(line, existing) };
  });
  const written = await importAccounts(db, principal, accounts, { now, isUpdate: onExisting === 'update' }).catch(
    (error: unknown) => {
      // The audit log shows whether it was committed.
      revocations?.catchUpSoon();
      throw error;
    },
  );
  if (revocations) await recordUpdates(db, revocations, [...written.values()], now);
  return written;
}
