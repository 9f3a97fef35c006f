/** Entitlements: the scopes in need of one that the keys of an account may have. Administrators set them. */
import { limits, scopePattern } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { isOutcomeUnknown } from '../../foundation/database/unavailable.ts';
import { DomainError, type FieldError } from '../../foundation/errors.ts';
import type { Principal } from '../../foundation/principal.ts';
import type { AccountRevocations } from '../accounts/account-revocations.ts';
import {
  findEntitlements,
  lockEntitlementsTx,
  storeEntitlementsTx,
  type EntitlementsRow,
} from '../accounts/entitlement-store.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import type { Revocations } from '../deletion-journal/revocation.ts';
import { assertSessionValidTx } from '../sessions/store.ts';
import { listNeedingEntitlement } from './store.ts';

export interface EntitlementsOptions {
  readonly db: Db;
  readonly clock: Clock;
  /** Repeats a change of unknown outcome; meanwhile, this instance answers 503 for the keys of the account. */
  readonly accounts: AccountRevocations;
  /** Absent without a deletion journal. */
  readonly revocations?: Revocations | undefined;
}

export class Entitlements {
  readonly #options: EntitlementsOptions;

  constructor(options: EntitlementsOptions) {
    this.#options = options;
  }

  /** @returns the names in order @throws DomainError `account_not_found` */
  async list(accountId: string): Promise<string[]> {
    const row = await findEntitlements(this.#options.db, accountId);
    if (!row) throw new DomainError('account_not_found');
    return toNames(row);
  }

  /**
   * Replaces the entitlements of an account. Resolves when the change is durable: every verification that starts later
   * applies it. If the outcome is unknown, it throws, and the change is retried in the background, unless a later change has
   * replaced it.
   * @throws DomainError `invalid_request` for a name that is not a declared scope in need of an entitlement,
   *   `account_not_found`, `invalid_access_token`, `unavailable`
   */
  async set(principal: Principal, accountId: string, names: readonly string[]): Promise<void> {
    const { db, clock, accounts, revocations } = this.#options;
    assertValid(names);
    const now = clock.now();
    let seen = await findEntitlements(db, accountId);
    if (!seen) throw new DomainError('account_not_found');
    const text = names.length === 0 ? null : names.toSorted().join(' ');
    const { revision } = seen;
    const change = (tx: Transaction, before: EntitlementsRow) =>
      storeTx(tx, { principal, accountId, now, text, before });
    const changed = await accounts
      .orFinish(accountId, {
        kind: `entitlements ${revision} ${text}`,
        change: () =>
          db.transaction(async (tx) => {
            await assertSessionValidTx(tx, principal, now);
            const before = await lockEntitlementsTx(tx, accountId);
            if (!before) throw new DomainError('account_not_found');
            seen = before;
            await assertEntitleable(tx, names, toNames(before));
            return change(tx, before);
          }),
        finish: () =>
          db.transaction(async (tx) => {
            const before = await lockEntitlementsTx(tx, accountId);
            // A later change replaces all entitlements.
            if (before?.revision === seen?.revision && before) await change(tx, before);
          }),
      })
      .catch((error: unknown) => {
        if (isOutcomeUnknown(error)) revocations?.catchUpSoon();
        throw error;
      });
    if (!changed) await db.confirm();
    else if (changed.removed.length > 0)
      await revocations?.record([{ kind: 'entitlements_removed', id: accountId, at: changed.at }]);
  }
}

interface Change {
  readonly principal: Principal;
  readonly accountId: string;
  readonly now: number;
  /** As stored. */
  readonly text: string | null;
  readonly before: EntitlementsRow;
}

/** @returns undefined if nothing changes */
async function storeTx(
  tx: Transaction,
  { principal, accountId, now, text, before }: Change,
): Promise<{ at: number; removed: readonly string[] } | undefined> {
  if (text === before.entitlements) return undefined;
  // The deletion journal identifies a change by its time.
  const at = Math.max(now, before.updatedAt + 1);
  const after = { entitlements: text, revision: before.revision + 1, updatedAt: at };
  const entitlements = toNames(after);
  const removed = toNames(before).filter((name) => !entitlements.includes(name));
  await storeEntitlementsTx(tx, accountId, after);
  await recordAccountEventTx(tx, principal, 'account.entitlements_set', accountId, at, { entitlements, removed });
  return { at, removed };
}

const toNames = ({ entitlements }: Pick<EntitlementsRow, 'entitlements'>): string[] => entitlements?.split(' ') ?? [];

/** @throws DomainError `invalid_request` */
function assertValid(names: readonly string[]): void {
  const errors: FieldError[] = [];
  if (names.length > limits.entitlementsPerAccountMax)
    errors.push({ pointer: '/entitlements', detail: `At most ${limits.entitlementsPerAccountMax}.` });
  for (const [index, name] of names.entries())
    if (!scopePattern.test(name) || name.length > limits.scopeCharsMax || names.indexOf(name) < index)
      errors.push({ pointer: `/entitlements/${index}`, detail: 'Expected a scope (RFC 6749 section 3.3), each once.' });
  if (errors.length > 0) throw new DomainError('invalid_request', { errors });
}

/** @param held entitlements that the account may keep @throws DomainError `invalid_request` */
async function assertEntitleable(tx: Transaction, names: readonly string[], held: readonly string[]): Promise<void> {
  const marked = await listNeedingEntitlement(tx, names);
  const errors = names.flatMap((name, index) =>
    marked.has(name) || held.includes(name)
      ? []
      : [{ pointer: `/entitlements/${index}`, detail: `${name} is not a declared scope that needs an entitlement.` }],
  );
  if (errors.length > 0) throw new DomainError('invalid_request', { errors });
}
