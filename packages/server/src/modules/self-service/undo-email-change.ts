/**
 * Undoes an email change with the code that was sent to the previous email address. It requires no sign-in, because the
 * thief who changed the email address may have changed the password. It keeps second factors from before, because access to a
 * mailbox must not suffice to remove one.
 */
import { lockAccountTx } from '../accounts/credentials-store.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { findUndoableChange } from '../accounts/email-change-store.ts';
import { keyDeletions } from '../deletion-journal/revocation.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import { DomainError } from '../../foundation/errors.ts';
import { mailbox, type SelfServiceOptions } from './options.ts';
import type { Remaining } from './remaining.ts';
import { findTrustedUses } from './suspect-credentials.ts';
import { secureRestoredAccountTx, restoreEmailTx } from './email-change-tx.ts';
import { assertTyped, refuseTaken } from './store.ts';

export class UndoEmailChange {
  readonly #options: SelfServiceOptions;

  constructor(options: SelfServiceOptions) {
    this.#options = options;
  }

  /**
   * Deletes the API keys that were created, changed or rotated, and removes the passkeys and second factors that were added,
   * in the days before the change and since: the thief may have them, or have given the keys more rights. Those from before
   * the change stay if they were used from a client IP range that was trusted before that time.
   * @param emailText the previous email address, as the user typed it: a mail scanner presses the button, but types nothing
   * @param revokesKeys whether the other keys are deleted as well
   * @returns what still works
   * @throws DomainError `code_invalid`, `email_wrong` and `account_exists` (the code still works), `too_many_requests`,
   *   `unavailable`
   */
  async undo(codeText: string, emailText: string, revokesKeys: boolean): Promise<Remaining> {
    const { db, clock, codes, requests, accounts, mailer } = this.#options;
    const now = clock.now();
    const hash = codes.hashOf(codeText);
    const change = hash && (await findUndoableChange(db, hash, now));
    if (!hash || !change) throw new DomainError('code_invalid');
    // Before the try is counted, so that an unavailable second file costs no tries.
    const trusted = await findTrustedUses(this.#options, change);
    await requests.countCodeTry(hash);
    assertTyped(emailText, change);
    const { accountId } = change;
    const act = { principal: mailbox, now };
    const undoTx = async (tx: Transaction) => {
      const account = await lockAccountTx(tx, accountId);
      // The lookup is repeated under the lock, so that one of several concurrent requests with this code succeeds.
      if (!account || !(await findUndoableChange(tx, hash, now))) throw new DomainError('code_invalid');
      await restoreEmailTx(tx, act, this.#options, { account, change });
      return secureRestoredAccountTx(tx, this.#options, {
        ...act,
        change,
        revokesKeys,
        trusted,
        isDisabled: account.disabledAt !== null,
      });
    };
    const undone = runNarrowing(this.#options, {
      changeTx: undoTx,
      recordedOf: ({ deletedIds }) => [...keyDeletions(deletedIds, now), { accountId, at: now }],
      afterCommit: () => mailer.sendSoon(),
      repetition: {
        pending: accounts.unfinished,
        // It is rejected if it has happened (`code_invalid`), or cannot happen any more (`account_exists`).
        of: () => [{ id: accountId, kind: `undo ${hash.toString('hex')}`, txs: [undoTx] }],
      },
    });
    return (await undone.catch(refuseTaken)).remaining;
  }
}
