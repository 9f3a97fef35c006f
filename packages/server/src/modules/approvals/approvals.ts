/**
 * Approvals: a person finds the request with the code that a program shows, and approves or denies it. An approval stores a right and
 * the session that gave it; `device-keys.ts` makes a key of it. Requests are in no backup, and a replay of the deletion
 * journal deletes them.
 */
import type { Approval, ApprovalBody } from '@keyreeve/contract';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError, invalidAt } from '../../foundation/errors.ts';
import { validateNickname } from '../../foundation/nickname.ts';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { assertBelowKeyLimit, assertMayCreate, findCreationStateTx } from '../api-keys/creation-store.ts';
import { scopesToGrant, validateScopes } from '../api-keys/scopes.ts';
import { recordEventTx } from '../audit/audit.ts';
import { PendingChanges } from '../deletion-journal/pending-changes.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import type { ApprovalLimits, Guesser } from '../rate-limits/approval-limits.ts';
import { assertMayGrant, pointerIn } from '../scope-catalogue/grants.ts';
import { assertSessionValidTx } from '../sessions/store.ts';
import type { ApprovalCodes } from './codes.ts';
import { hasEnded, rangeOf, RequestCounts, toApproval } from './request-state.ts';
import * as store from './store.ts';
import type { DeviceData, RequestRow } from './store.ts';

export interface ApprovalsOptions extends RecordingCore {
  readonly codes: ApprovalCodes;
  readonly approvalLimits: ApprovalLimits;
  /** Whether the scope catalogue is enforced. */
  readonly hasCatalogue: boolean;
  readonly keysPerAccountMax: number;
}

/** A person, and where the request comes from. */
export interface Person {
  readonly principal: AccountPrincipal;
  readonly clientIp: string;
}

export class Approvals {
  /** By id: requests with a denial of unknown outcome. */
  readonly pending = new PendingChanges<string>();
  readonly counts = new RequestCounts();
  readonly #options: ApprovalsOptions;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /**
   * Also a request that the account has decided, such as in another tab.
   * @throws DomainError `approval_not_found`, `too_many_codes`
   */
  async lookUp(person: Person, code: string): Promise<Approval> {
    const now = this.#options.clock.now();
    const guesser = { accountId: person.principal.accountId, range: rangeOf(person.clientIp) };
    const row = await this.#guess(guesser, code, async (tx, hash) => {
      const found = await store.findByUserCode(tx, hash);
      const isShown = found?.state === 'pending' || found?.accountId === person.principal.accountId;
      return isShown && !hasEnded(found, now) ? found : undefined;
    });
    return toApproval(row, person.clientIp);
  }

  /** A request that the account has decided. @throws DomainError `approval_not_found` */
  async find({ principal, clientIp }: Person, id: string): Promise<Approval> {
    const row = await store.findRequest(this.#options.db, id);
    if (row?.accountId !== principal.accountId) throw new DomainError('approval_not_found');
    return toApproval(row, clientIp);
  }

  /**
   * @throws DomainError `approval_not_found`, `approval_decided`, `too_many_codes`, `nickname_invalid`, `scope_invalid`,
   *   `scope_not_entitled`, `key_limit_reached`, `email_unverified`, `invalid_request` for more than what is requested,
   *   `invalid_access_token`
   */
  async approve(person: Person, id: string, body: ApprovalBody): Promise<Approval> {
    const { clock } = this.#options;
    const { principal, clientIp } = person;
    const now = clock.now();
    const nickname = body.nickname === undefined ? undefined : validateNickname(body.nickname);
    const approved = await this.#guess(principal, body.code, async (tx, hash) => {
      // The account before the request: as the order of all transactions.
      await assertSessionValidTx(tx, { principal, now });
      const row = await lockWithCodeTx(tx, id, hash);
      if (!row || hasEnded(row, now)) return undefined;
      if (row.state !== 'pending') throw new DomainError('approval_decided');
      const data = dataOf(row, principal, { ...body, nickname: nickname ?? row.programName });
      await this.#assertCreatableTx(tx, principal, data.approved.scopes);
      if (!(await store.approveTx(tx, id, data, principal.accountId))) throw new DomainError('approval_decided');
      const { scopes, lifetimeSeconds } = data.approved;
      const details = { program: row.programId, scopes, lifetimeSeconds, clientRange: row.clientRange };
      await recordEventTx(tx, {
        at: now,
        principal,
        action: 'approval.approved',
        accountId: principal.accountId,
        target: id,
        details,
      });
      return { ...row, data, state: 'approved', accountId: principal.accountId } as const;
    });
    this.counts.approved++;
    return toApproval(approved, clientIp);
  }

  /** Rejects what the poll would reject, while the person can still change it. */
  async #assertCreatableTx(tx: Transaction, principal: AccountPrincipal, scopes: readonly string[]): Promise<void> {
    const { hasCatalogue, keysPerAccountMax } = this.#options;
    const { accountId } = principal;
    const state = await findCreationStateTx(tx, accountId);
    assertMayCreate(state);
    assertBelowKeyLimit(state.keyCount, keysPerAccountMax);
    const valid = validateScopes(principal, accountId, scopes);
    await assertMayGrant(tx, accountId, scopesToGrant(principal, valid, hasCatalogue), pointerIn(scopes));
  }

  /**
   * Resolves when every poll that starts later is rejected. The account can also deny a request that it has approved, until its key
   * exists. No journal records it: a restored database has no request, and a replay deletes all.
   * @throws DomainError `approval_not_found`, `approval_decided`, `too_many_codes`, `invalid_access_token`, `unavailable`
   */
  async deny(person: Person, id: string, code: string): Promise<void> {
    const { clock, db } = this.#options;
    const { principal } = person;
    const now = clock.now();
    // Wrong codes of others in the range must not stop an account from taking its own approval back.
    if ((await store.findRequest(db, id))?.accountId !== principal.accountId)
      await this.#guess(principal, code, (tx, hash) => lockWithCodeTx(tx, id, hash));
    const denyTx = async (tx: Transaction): Promise<void> => {
      const row = await store.lockRequestTx(tx, id);
      if (!row || hasEnded(row, now)) throw new DomainError('approval_not_found');
      const isOpen = row.state === 'pending' || (row.state === 'approved' && row.accountId === principal.accountId);
      if (!isOpen || !(await store.denyTx(tx, id, principal.accountId))) throw new DomainError('approval_decided');
      const details = { program: row.programId, clientRange: row.clientRange };
      const { accountId } = principal;
      await recordEventTx(tx, { at: now, principal, action: 'approval.denied', accountId, target: id, details });
    };
    await runNarrowing(this.#options, {
      changeTx: async (tx) => {
        await assertSessionValidTx(tx, { principal, now });
        await denyTx(tx);
      },
      // Repeats a denial of unknown outcome.
      recordedOf: () => [() => Promise.resolve()],
      repetition: { pending: this.pending, of: () => [{ id, kind: 'deny', txs: [denyTx] }] },
    });
    this.counts.denied++;
  }

  /**
   * @param guesser without a range for an approval and a denial: they need the id of the request too, which only a lookup returns, so others
   *   in the range cannot stop a person who has seen the request
   * @throws DomainError `approval_not_found`, `too_many_codes`
   */
  async #guess<T>(
    { accountId, range }: Guesser,
    code: string,
    findTx: (tx: Transaction, hash: Buffer) => Promise<T | undefined>,
  ): Promise<T> {
    const { approvalLimits, codes } = this.#options;
    const hash = codes.hashOfUserCode(code);
    const guesser = { accountId, ...(range !== undefined && { range }) };
    const found = await approvalLimits.guess(guesser, async (tx) => (hash ? findTx(tx, hash) : undefined));
    if (found === undefined) throw new DomainError('approval_not_found');
    return found;
  }
}

/** Locks a request if the code is its own. */
async function lockWithCodeTx(tx: Transaction, id: string, hash: Buffer): Promise<RequestRow | undefined> {
  const found = await store.findByUserCode(tx, hash);
  return found?.id === id ? store.lockRequestTx(tx, id) : undefined;
}

/** @throws DomainError `invalid_request` for more than the program has requested */
function dataOf(
  { data: { requested }, programUpdatedAt }: RequestRow,
  { sessionId, kid }: AccountPrincipal,
  {
    nickname,
    scopes = [...requested.scopes],
    lifetimeSeconds = requested.lifetimeSeconds,
  }: Omit<ApprovalBody, 'code'> & { readonly nickname: string },
): DeviceData & { readonly approved: NonNullable<DeviceData['approved']> } {
  const index = scopes.findIndex((scope) => !requested.scopes.includes(scope));
  if (index >= 0) throw invalidAt(`/scopes/${index}`, 'The program has not requested this scope.');
  if (lifetimeSeconds > requested.lifetimeSeconds)
    throw invalidAt('/lifetimeSeconds', `Expected at most ${requested.lifetimeSeconds}.`);
  const by = { sessionId, ...(kid === undefined ? {} : { kid }) };
  return { requested, approved: { scopes: [...scopes], lifetimeSeconds, nickname, by, programUpdatedAt } };
}
