/**
 * Creates the key of an approved request, in the transaction of a poll. The approval has stored a right, not a key: the secret exists
 * only in the response, and a crash between the two leaves no key. If the response is lost, the same device code replaces the
 * secret of the unused key.
 */
import { limits } from '@keyreeve/contract';
import { aheadMsMax } from '../../foundation/clock.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import type { Core } from '../../foundation/core.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { withoutJoiners } from '../../foundation/joiners.ts';
import { withSuffix } from '../../foundation/nickname.ts';
import { system, type AccountPrincipal } from '../../foundation/principal.ts';
import type { ApiKeys } from '../api-keys/api-keys.ts';
import type { KeyChanges } from '../api-keys/changes.ts';
import { lockOwnerTx } from '../api-keys/creation-store.ts';
import { listNicknamesTx } from '../api-keys/program-key-store.ts';
import { splitScopes } from '../api-keys/scopes.ts';
import { readUses } from '../api-keys/use-store.ts';
import { recordEventTx } from '../audit/audit.ts';
import { assertEnrolledTx } from '../sessions/store.ts';
import { shareProgramTx, type ProgramRow } from '../programs/store.ts';
import type { DeviceMail } from './device-mail.ts';
import { hasEnded, lifetimeSecondsOf, type RequestCounts } from './request-state.ts';
import * as store from './store.ts';
import type { DeviceData, RequestRow } from './store.ts';

export interface DeviceKeysOptions extends Core {
  readonly apiKeys: ApiKeys;
  readonly keyChanges: KeyChanges;
  readonly mail: DeviceMail;
  /** Writes the uses that this process has collected. */
  readonly flushUses: () => Promise<void>;
  /** KEYREEVE_KEY_LIFETIME_DAYS_MAX; 0 for no limit. */
  readonly lifetimeDaysMax: number;
  readonly counts: RequestCounts;
}

export interface IssuedKey {
  readonly secret: Secret;
  readonly keyId: number;
  readonly nickname: string;
  readonly scopes: readonly string[];
  readonly expiresInSeconds: number;
}

type Approved = NonNullable<DeviceData['approved']>;

export const invalidDeviceCode = (): DomainError =>
  new DomainError('invalid_grant', { detail: 'The device code is unknown, of another program, or used.' });

/** Why an approved right does not yield a key any more. */
const refusals: ReadonlySet<string> = new Set([
  'invalid_access_token',
  'second_factor_enrolment_required',
  'account_not_found',
  'email_unverified',
  'key_limit_reached',
  'scope_not_entitled',
  'scope_invalid',
  'reserved_scope',
  'nickname_invalid',
  'nickname_taken',
  'invalid_request',
  'access_denied',
]);

export class DeviceKeys {
  readonly #options: DeviceKeysOptions;

  constructor(options: DeviceKeysOptions) {
    this.#options = options;
  }

  /**
   * @param row as read before; approved
   * @throws DomainError `access_denied` for what is not allowed any more, which is final; `slow_down` if a rival has created the key;
   *   `invalid_grant`, `expired_token`, `unavailable`
   */
  async create(row: RequestRow, now: number): Promise<IssuedKey> {
    const { apiKeys, counts, db, mail } = this.#options;
    try {
      await apiKeys.assertCreationAllowed(row.accountId ?? '', now);
      const issued = await db.transaction((tx) => this.#createTx(tx, row, now));
      counts.issued++;
      mail.sendSoon();
      return issued;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      // The program polls again, until the account may create keys again.
      if (error.code === 'too_many_creations') throw new DomainError('slow_down');
      if (!refusals.has(error.code)) throw error;
      await this.#deny(row, now, error.code);
      counts.refused++;
      throw new DomainError('access_denied');
    }
  }

  async #createTx(tx: Transaction, { id, programId, accountId }: RequestRow, now: number): Promise<IssuedKey> {
    const { apiKeys, mail } = this.#options;
    await lockOwnerTx(tx, accountId ?? '');
    await assertEnrolledTx(tx, accountId ?? '');
    const shared = await shareProgramTx(tx, programId);
    const { row, approved, program } = heldRight(await store.lockRequestTx(tx, id), shared, now);
    this.#assertAllowed(approved, program);
    const owner = principalOf(row, approved);
    const nickname = freeName(approved.nickname, await listNicknamesTx(tx, owner.accountId));
    const expiresAt = now + approved.lifetimeSeconds * 1_000;
    const request = { nickname, scopes: approved.scopes, expiresAt, program: programId };
    const { key, secret, storeTx } = apiKeys.prepare(owner, owner.accountId, request);
    await storeTx(tx);
    if (!(await store.useTx(tx, id, key.id, key.updatedAt))) throw new DomainError('slow_down');
    await mail.queueTx(tx, row, { ...key, accountId: owner.accountId, now });
    return { secret, keyId: key.id, nickname, scopes: key.scopes, expiresInSeconds: approved.lifetimeSeconds };
  }

  /**
   * A change of the program ends the right, also one that was reversed. The program may have been narrowed before the approval.
   * @throws DomainError `access_denied`
   */
  #assertAllowed({ scopes, lifetimeSeconds, programUpdatedAt }: Approved, program: ProgramRow): void {
    const allowed = splitScopes(program.scopes);
    const secondsMax = lifetimeSecondsOf(program.lifetimeSeconds, this.#options.lifetimeDaysMax);
    const isWithin = lifetimeSeconds <= secondsMax && scopes.every((scope) => allowed.includes(scope));
    if (!isWithin || program.updatedAt !== programUpdatedAt) throw new DomainError('access_denied');
  }

  /** A right that was refused once stays refused, even if the account gets it back. */
  async #deny({ id, accountId, programId }: RequestRow, now: number, reason: string): Promise<void> {
    await this.#options.db.transaction(async (tx) => {
      if (!(await store.denyTx(tx, id, null))) return;
      const details = { program: programId, reason };
      const owner = accountId === null ? {} : { accountId };
      await recordEventTx(tx, { at: now, principal: system, action: 'approval.denied', target: id, ...owner, details });
    });
  }

  /**
   * Replaces the secret of the unused key of a request, whose response was lost.
   * @param row as read before; used
   * @throws DomainError `invalid_grant` later, or after a use or change of the key; `slow_down` too early, and for a rival;
   *   `access_denied` if the session of the approval has ended, or the account needs a second factor; `unavailable`
   */
  async repeat(row: RequestRow, now: number): Promise<IssuedKey> {
    const { counts, db, flushUses, keyChanges } = this.#options;
    const { keyId, usedAt, issuedAt, accountId, data } = row;
    const { approved } = data;
    if (keyId === null || usedAt === null || issuedAt === null || accountId === null || !approved)
      throw invalidDeviceCode();
    const endsAt = usedAt + limits.deviceRepeatSeconds * 1_000;
    // Also if a clock was set back: the minute would begin again.
    if (now > endsAt || usedAt - aheadMsMax > now) throw invalidDeviceCode();
    // Until then, the uses that other instances have verified may not be written.
    if (now < issuedAt + limits.deviceRepeatAfterSeconds * 1_000) throw new DomainError('slow_down');
    await flushUses();
    if ((await readUses(db.usage, [keyId])).size > 0) throw invalidDeviceCode();
    const principal = principalOf(row, approved);
    try {
      const { key, secret } = await keyChanges.replaceUnchanged(
        principal,
        { accountId, id: keyId },
        {
          changedAt: issuedAt,
          admitTx: async (tx) => {
            await assertEnrolledTx(tx, accountId);
            const locked = await store.lockRequestTx(tx, row.id);
            if (locked?.issuedAt !== issuedAt) throw new DomainError('slow_down');
          },
          storeTx: (tx, at) => store.reissueTx(tx, row.id, at),
        },
      );
      counts.reissued++;
      const expiresInSeconds = Math.max(0, Math.floor(((key.expiresAt ?? now) - now) / 1_000));
      return { secret, keyId, nickname: key.nickname, scopes: splitScopes(key.scopes), expiresInSeconds };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      // A rival has replaced it: if its response is lost too, a later poll replaces it again.
      if ((await store.findRequest(db, row.id))?.issuedAt !== issuedAt) throw new DomainError('slow_down');
      if (error.code === 'key_not_found' || error.code === 'not_key_owner') throw invalidDeviceCode();
      if (error.code === 'too_many_creations' || error.code === 'too_many_changes') throw new DomainError('slow_down');
      if (error.code === 'invalid_access_token' || error.code === 'second_factor_enrolment_required')
        throw new DomainError('access_denied');
      throw error;
    }
  }
}

/** What a poll finds under the locks. @throws DomainError `invalid_grant`, `slow_down`, `access_denied`, `expired_token` */
function heldRight(
  found: RequestRow | undefined,
  program: ProgramRow | undefined,
  now: number,
): { readonly row: RequestRow; readonly program: ProgramRow; readonly approved: Approved } {
  if (!found || !program) throw invalidDeviceCode();
  // A rival has created the key: if its response is lost, a later poll replaces the secret.
  if (found.state === 'used') throw new DomainError('slow_down');
  const { approved } = found.data;
  if (found.state !== 'approved' || !approved) throw new DomainError('access_denied');
  if (hasEnded(found, now)) throw new DomainError('expired_token');
  return { row: found, program, approved };
}

/** The session that approved the request: the transaction checks that it has not ended. */
const principalOf = ({ accountId }: RequestRow, { by }: Approved): AccountPrincipal => ({
  kind: 'account',
  accountId: accountId ?? '',
  ...by,
});

/** @param taken nicknames of the account @returns the nickname, with a number if another key has it */
export function freeName(nickname: string, taken: readonly string[]): string {
  const others = new Set(taken.map(withoutJoiners));
  for (let number = 1; ; number++) {
    const name = number === 1 ? nickname : withSuffix(nickname, ` ${number}`);
    if (!others.has(withoutJoiners(name))) return name;
  }
}
