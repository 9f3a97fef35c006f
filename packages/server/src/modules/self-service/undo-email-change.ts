/**
 * Undoing a change of an account's email address, with the code that the address before was sent. It needs no sign-in: a
 * thief who changed the address has the password. It doesn't touch a second factor: a mailbox alone must not remove one.
 */
import { lockAccountTx } from '../accounts/credentials-store.ts';
import { listAccountKeys } from '../api-keys/store.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { findUndoableChange } from '../accounts/email-change-store.ts';
import { DomainError } from '../../foundation/errors.ts';
import { recordDeletedKeys } from './revoke-all-credentials.ts';
import { mailbox, type SelfServiceOptions, type LiveKey } from './options.ts';
import { returnEmailTx, restoreEmailTx } from './moved-email.ts';
import { refuseTaken } from './store.ts';

export class UndoEmailChange {
  readonly #options: SelfServiceOptions;

  constructor(options: SelfServiceOptions) {
    this.#options = options;
  }

  /**
   * API keys that were created since the change are deleted: who undoes it says that they are not the owner's.
   * @param revokesKeys whether the older ones are deleted as well
   * @returns the keys that go on working
   * @throws DomainError `code_invalid`, `account_exists` (the code stays good), `too_many_requests`, `unavailable`
   */
  async undo(codeText: string, revokesKeys: boolean): Promise<readonly LiveKey[]> {
    const { db, clock, codes, requests, accounts, mailer, revocations } = this.#options;
    const now = clock.now();
    const hash = codes.hashOf(codeText);
    const change = hash && (await findUndoableChange(db, hash, now));
    if (!hash || !change) throw new DomainError('code_invalid');
    await requests.countCodeTry(hash);
    const { accountId } = change;
    const work = async (tx: Transaction) => {
      const account = await lockAccountTx(tx, accountId);
      // Under the lock: of any number of rivals with one code one finds it.
      if (!account || !(await findUndoableChange(tx, hash, now))) throw new DomainError('code_invalid');
      await restoreEmailTx(tx, mailbox, this.#options, account, change, now);
      const isDisabled = account.disabledAt !== null;
      const deleted = await returnEmailTx(tx, mailbox, this.#options, change, { revokesKeys, isDisabled, now });
      return { deleted, live: await listAccountKeys(tx, accountId) };
    };
    const { deleted, live } = await accounts.orFinish(accountId, {
      kind: `undo ${hash.toString('hex')}`,
      change: () => db.transaction(work).catch(refuseTaken),
      finish: async () => {
        await db.transaction(work).catch(orDone);
        mailer.sendSoon();
      },
    });
    await recordDeletedKeys(revocations, deleted, now);
    await revocations?.recordChanges(accountId, now);
    mailer.sendSoon();
    return live;
  }
}

/** Where an undo of unknown outcome is tried again: it has happened, or nothing of it can happen any more. */
function orDone(error: unknown): undefined {
  if (error instanceof DomainError && (error.code === 'code_invalid' || error.code === 'account_exists'))
    return undefined;
  throw error;
}
