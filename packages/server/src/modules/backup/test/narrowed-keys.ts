/** An installation with a key for each change that narrows keys, made before and after a backup. */
import assert from 'node:assert/strict';
import { dayMs } from '../../../foundation/clock.ts';
import type { KeyChanges } from '../../api-keys/changes.ts';
import type { CurrentEnd, Replacement } from '../../api-keys/key-request.ts';
import { findKeyStates, findPreviousKeyStates } from '../../api-keys/state-store.ts';
import type { Revocations } from '../../deletion-journal/revocation.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import type { AccountPrincipal } from '../../../foundation/principal.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { newKeyChanges } from '../../../../test-kit/new-key-changes.ts';
import { addAccount, addKey, addSession, hashOf, now, operator } from '../../../../test-kit/rows.ts';
import { deleteKey } from '../../../../test-kit/store-changes.ts';

/** Seconds. The overlap of `over` has ended before anything is verified. */
const shortOverlap = 10;
const dayOverlap = 86_400;
/** When keys are narrowed. */
export const since = now + 20_000;
/** Before this time, `over` has no other secret than the current one. */
export const verifiedAt = now + 30_000;

const before = {
  kept: undefined,
  renamed: undefined,
  over: shortOverlap,
  disabled: undefined,
  scopes: undefined,
  expiry: undefined,
  addresses: undefined,
  overlap: undefined,
  replaced: undefined,
  older: dayOverlap,
  lost: dayOverlap,
  ended: dayOverlap,
  enabled: undefined,
  deleted: undefined,
  locked: undefined,
} as const;
export type Name = keyof typeof before;
const names = Object.keys(before) as Name[];
/** Keys that a restore to the state before the changes disables. */
export const narrowed = names.filter((name) => !['kept', 'renamed', 'over', 'deleted'].includes(name));

const selectEpoch = sql<{ epoch: number }>(
  'test_session_epoch',
  `select session_epoch as epoch from accounts where id = 'acc_ada'`,
);

/** Adds a session. @returns its account, as its own owner */
export async function ownerIn(db: Db, name = 'own', at = now): Promise<AccountPrincipal> {
  const epoch = (await db.get(selectEpoch))?.epoch ?? 0;
  const session = await addSession(db, 'acc_ada', name, {
    accountEpoch: epoch,
    now: at,
    idleExpiresAt: at + dayMs,
    expiresAt: at + dayMs,
  });
  return { kind: 'account', accountId: 'acc_ada', sessionId: session.id };
}

export const changesIn = (db: Db, at = since, revocations?: Revocations): KeyChanges =>
  newKeyChanges(db, new FakeClock(at), revocations);

export class NarrowedKeys {
  readonly ids = new Map<Name, number>();
  /** By key: the stored hash of each secret it ever had, oldest first. */
  readonly secrets = new Map<Name, Buffer[]>();
  readonly #owner: AccountPrincipal;

  private constructor(owner: AccountPrincipal) {
    this.#owner = owner;
  }

  /** The state that the backup contains. */
  static async create(db: Db): Promise<NarrowedKeys> {
    await addAccount(db, 'ada');
    const made = new NarrowedKeys(await ownerIn(db));
    for (const name of names) {
      const key = await addKey(db, 'acc_ada', name, { scopes: ['a', 'b'] });
      made.ids.set(name, key.id);
      made.secrets.set(name, [key.hash]);
      const overlapSeconds = before[name];
      if (overlapSeconds !== undefined) await made.rotate(changesIn(db, now), name, { overlapSeconds });
    }
    return made;
  }

  async rotate(changes: KeyChanges, name: Name, request: Partial<Replacement> | CurrentEnd) {
    const all = 'endCurrent' in request ? request : { overlapSeconds: 0, endPrevious: false, ...request };
    const { secret } = await changes.rotate(this.#owner, 'acc_ada', this.idOf(name), all);
    this.secrets.get(name)?.push(hashOf(secret.reveal()));
  }

  /** Makes each change. The key `enabled` is enabled again, `deleted` is deleted. */
  async narrow(db: Db, revocations?: Revocations, at = since): Promise<void> {
    const changes = changesIn(db, at, revocations);
    const change = (name: Name, request: Parameters<KeyChanges['change']>[3]) =>
      changes.change(this.#owner, 'acc_ada', this.idOf(name), request);
    await change('renamed', { nickname: 'another' });
    await change('disabled', { disabled: true });
    await change('scopes', { scopes: ['a'] });
    await change('expiry', { expiresAt: now + dayMs });
    await change('addresses', { addresses: ['203.0.113.0/24'] });
    await this.rotate(changes, 'overlap', { overlapSeconds: dayOverlap });
    await this.rotate(changes, 'replaced', { overlapSeconds: 0 });
    await this.rotate(changes, 'lost', { endCurrent: true });
    await this.rotate(changes, 'older', { overlapSeconds: dayOverlap, endPrevious: true });
    await changes.endPrevious(this.#owner, 'acc_ada', this.idOf('ended'));
    await change('enabled', { disabled: true });
    await change('enabled', { disabled: false });
    await change('deleted', { disabled: true });
    await deleteKey(db, { principal: this.#owner, now: at + 5 }, 'acc_ada', this.idOf('deleted'));
    await revocations?.record([{ kind: 'api_key', id: String(this.idOf('deleted')), at: at + 5 }]);
    await changes.change(operator, 'acc_ada', this.idOf('locked'), { disabled: true });
  }

  idOf(name: Name): number {
    const id = this.ids.get(name);
    assert.ok(id !== undefined);
    return id;
  }

  /** @returns by key: what a verification finds for each of its secrets, oldest first */
  async statesIn(db: Db, at = verifiedAt): Promise<Record<Name, string[]>> {
    const entries = names.map(async (name) => {
      const hashes = this.secrets.get(name) ?? [];
      const [current, previous] = [await findKeyStates(db, hashes), await findPreviousKeyStates(db, hashes)];
      const states = hashes.map((_, index) => {
        const state = current[index] ?? previous[index];
        if (!state) return 'not found';
        if (state.disabledAt !== null) return 'disabled';
        const isOver = Math.min(state.overlapEndsAt ?? Infinity, state.expiresAt ?? Infinity) <= at;
        return isOver ? 'expired' : [state.scopes, state.addresses, state.expiresAt].filter(Boolean).join(' ');
      });
      return [name, states] as const;
    });
    return Object.fromEntries(await Promise.all(entries)) as Record<Name, string[]>;
  }
}
