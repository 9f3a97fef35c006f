/** Imports accounts of another system with their password hashes. */
import { randomId } from '../../foundation/crypto/secret.ts';
import type { ImportedAccount } from '../accounts/import-store.ts';
import { parseEmail } from '../accounts/email.ts';
import type { Principal } from '../../foundation/principal.ts';
import type { Clock } from '../../foundation/clock.ts';
import { ForeignHashError } from '../../foundation/crypto/foreign-hash.ts';
import type { PasswordHasher } from '../../foundation/crypto/password.ts';
import type { Db } from '../../foundation/database/db.ts';
import { creationOf, readFields, required } from './fields.ts';
import { LineRejectedError, SeenLines, type Importer, type Numbered, type Outcome } from './run-import.ts';
import * as store from './store.ts';

export interface AccountImportOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly hasher: PasswordHasher;
  readonly isDryRun: boolean;
  /** Whether a line whose email address already has an account is skipped or rejected. */
  readonly onExisting: 'skip' | 'fail';
}

const fields = {
  email: 'text',
  passwordHash: 'text',
  verified: 'flag',
  disabled: 'flag',
  createdAt: 'text',
} as const;

/** The id is created when the account is written. */
type AccountLine = Omit<ImportedAccount, 'id'>;

export function accountImporter(principal: Principal, options: AccountImportOptions): Importer<AccountLine> {
  const { db, clock, isDryRun, onExisting } = options;
  const emails = new SeenLines('email');
  return {
    read(line, bytes) {
      const account = readAccount(bytes, options);
      emails.add(account.canonicalEmail, line);
      return account;
    },
    async write(items: readonly Numbered<AccountLine>[]): Promise<readonly Outcome[]> {
      const accounts = items.map(({ item }) => item);
      const existing = isDryRun
        ? await store.findExistingEmails(
            db,
            accounts.map(({ canonicalEmail }) => canonicalEmail),
          )
        : await store.importAccounts(
            db,
            principal,
            accounts.map((account) => ({ ...account, id: randomId('acc') })),
            clock.now(),
          );
      return accounts.map(({ canonicalEmail }) => {
        if (!existing.has(canonicalEmail)) return 'imported';
        return onExisting === 'skip'
          ? 'existing'
          : new LineRejectedError('an account with this email address already exists');
      });
    },
  };
}

function readAccount(bytes: Uint8Array, { clock, hasher }: AccountImportOptions): AccountLine {
  const { email: text, passwordHash, verified = true, disabled = false, createdAt } = readFields(bytes, fields);
  const email = parseEmail(required('email', text));
  if (!email) throw new LineRejectedError('email is not an email address');
  const now = clock.now();
  return {
    email: email.email,
    canonicalEmail: email.canonicalEmail,
    // Without a hash, the account has no password until a password reset.
    passwordHash: passwordHash === undefined ? '' : adopt(hasher, passwordHash),
    createdAt: creationOf(createdAt, now),
    disabledAt: disabled ? now : null,
    unverifiedSince: verified ? null : now,
  };
}

function adopt(hasher: PasswordHasher, foreign: string): string {
  try {
    return hasher.adopt(foreign);
  } catch (error) {
    if (!(error instanceof ForeignHashError)) throw error;
    throw new LineRejectedError(`passwordHash can’t be used: ${error.message}`);
  }
}
