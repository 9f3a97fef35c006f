/**
 * The scope catalogue: administrators declare scopes, mark those that need an entitlement, and delete them. Verification
 * applies each change that removes rights immediately, on every instance (docs/decisions/06-scopes-and-service-accounts.md).
 */
import { limits, scopePattern, type ScopeRequest } from '@keyreeve/contract';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { Act, Principal } from '../../foundation/principal.ts';
import { withoutNeededJoiners } from '../../foundation/joiners.ts';
import { isPrintable } from '../../foundation/printable.ts';
import { findEntitlements } from '../accounts/entitlement-store.ts';
import { lockAdministrationTx } from '../accounts/administrators-store.ts';
import { recordEventTx, type AuditAction, type AuditDetails } from '../audit/audit.ts';
import { PendingChanges } from '../deletion-journal/pending-changes.ts';
import type { ChangeKind, RecordingCore, Revocation } from '../deletion-journal/revocation.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import { assertSessionValidTx } from '../sessions/store.ts';
import * as store from './store.ts';
import type { ScopeRow } from './store.ts';

export type { ScopeRow };

export interface ScopeCatalogueOptions extends RecordingCore {
  /** Whether accounts can grant only declared scopes, and verification applies the catalogue: KEYREEVE_SCOPES. */
  readonly isEnforced: boolean;
}

/** A declared scope, as accounts see it. */
export interface GrantableScope {
  readonly name: string;
  readonly description: string;
  readonly mayGrant: boolean;
}

/** A change of one scope. */
interface Plan {
  readonly after: ScopeRow;
  /** Undefined if only the revision changes. */
  readonly event: { readonly action: AuditAction; readonly details: AuditDetails } | undefined;
  /** Undefined if the change removes no rights. */
  readonly narrowing: Extract<ChangeKind, 'scope_entitled' | 'scope_deleted'> | undefined;
}

/** @throws DomainError */
type MakePlan = (before: ScopeRow | undefined, scopesCount: number, now: number) => Plan;

/** Prefix of the scopes of Keyreeve itself, which have their own rules. */
const reservedPrefix = 'keyreeve:';

export class ScopeCatalogue {
  /** By name: scopes with a change of unknown outcome. */
  readonly pending = new PendingChanges<string>();
  readonly #options: ScopeCatalogueOptions;

  constructor(options: ScopeCatalogueOptions) {
    this.#options = options;
  }

  /** All of them by name, with the deleted ones. */
  list(): Promise<ScopeRow[]> {
    return store.listScopes(this.#options.db);
  }

  /** The declared scopes by name. */
  async listFor(accountId: string): Promise<GrantableScope[]> {
    const { db, isEnforced } = this.#options;
    const [rows, account] = await Promise.all([store.listScopes(db), findEntitlements(db, accountId)]);
    const entitlements = new Set(account?.entitlements?.split(' '));
    return rows
      .filter(({ deletedAt }) => deletedAt === null)
      .map(({ name, description, needsEntitlement }) => ({
        name,
        description,
        mayGrant: !isEnforced || needsEntitlement === 0 || entitlements.has(name),
      }));
  }

  /** @throws DomainError `scope_not_found` */
  async find(name: string): Promise<ScopeRow> {
    const { db } = this.#options;
    const row = isScopeName(name) ? await store.findScope(db, name) : undefined;
    if (!row) throw notFound(name);
    return row;
  }

  /**
   * Declares or changes a scope. Resolves when the change is durable: every verification that starts later applies it.
   * @param given absent members keep their value; a new scope gets an empty description and needs no entitlement
   * @throws DomainError `scope_invalid`, `invalid_request` for a description that is too long or has unprintable characters,
   *   `catalogue_full`, `invalid_access_token`, `unavailable`
   */
  async set(principal: Principal, name: string, given: Partial<ScopeRequest>): Promise<ScopeRow> {
    const plan = planSet(name, given);
    return this.#make({ principal, name, plan, kind: `set ${JSON.stringify([given.entitled, given.description])}` });
  }

  /**
   * Resolves when the deletion is durable: every verification that starts later ignores the scope.
   * @throws DomainError `scope_not_found`, `invalid_access_token`, `unavailable`
   */
  async delete(principal: Principal, name: string): Promise<void> {
    if (!isScopeName(name)) throw notFound(name);
    await this.#make({ principal, name, plan: planDeletion(name), kind: 'delete' });
  }

  /** Makes a change in one transaction, with its entry in the deletion journal. @returns the changed scope */
  async #make(operation: Operation): Promise<ScopeRow> {
    const { principal, name } = operation;
    const now = this.#options.clock.now();
    const { after } = await runNarrowing(this.#options, {
      changeTx: async (tx) => {
        await assertSessionValidTx(tx, { principal, now });
        return planTx(tx, operation, now, await lockTx(tx, name));
      },
      recordedOf: ({ after: { updatedAt: at }, narrowing: kind }) => (kind ? [{ kind, id: name, at }] : []),
      repetition: {
        pending: this.pending,
        of: ({ revision }) => {
          const repeatTx = async (tx: Transaction): Promise<void> => {
            const found = await lockTx(tx, name);
            // A later change replaces all values of the scope.
            if (found.before?.revision === revision) await planTx(tx, operation, now, found);
          };
          return [{ id: name, kind: `${operation.kind} ${revision}`, txs: [repeatTx] }];
        },
      },
    });
    return after;
  }
}

/** @throws DomainError as {@link ScopeCatalogue.set} */
function planSet(name: string, given: Partial<ScopeRequest>): MakePlan {
  assertDeclarable(name);
  assertDescription(given.description ?? '');
  return (before, scopesCount, now) => {
    if (!before && scopesCount >= limits.catalogueScopesMax) throw new DomainError('catalogue_full');
    const { description = before?.description ?? '', entitled = before?.needsEntitlement === 1 } = given;
    const needsEntitlement = entitled ? 1 : 0;
    const isSame =
      before?.deletedAt === null && before.description === description && before.needsEntitlement === needsEntitlement;
    // The new revision ends repetitions of earlier changes of unknown outcome, which this one replaces.
    if (isSame) return { after: { ...before, revision: before.revision + 1 }, event: undefined, narrowing: undefined };
    // A deleted scope is in force on no key.
    const isNarrowing = entitled && before?.needsEntitlement !== 1 && (before?.deletedAt ?? null) === null;
    const details = { entitled: needsEntitlement, narrowed: isNarrowing ? ['entitled'] : [] };
    return {
      after: { ...versionAfter(before, name, now), description, needsEntitlement, deletedAt: null },
      event: { action: 'scope.set', details },
      narrowing: isNarrowing ? 'scope_entitled' : undefined,
    };
  };
}

/** @throws DomainError as {@link ScopeCatalogue.delete} */
const planDeletion =
  (name: string): MakePlan =>
  (before, _scopesCount, now) => {
    if (!before || before.deletedAt !== null) throw notFound(name);
    const version = versionAfter(before, name, now);
    return {
      after: { ...before, ...version, deletedAt: version.updatedAt },
      event: { action: 'scope.deleted', details: {} },
      narrowing: 'scope_deleted',
    };
  };

/** The result of a change in a transaction of the caller, who records the narrowing and repeats a change of unknown outcome. */
interface ChangedScope {
  readonly recorded: readonly Revocation[];
  readonly isChanged: boolean;
}

/** {@link ScopeCatalogue.set} in a transaction of the caller. */
export const setScopeTx = (
  tx: Transaction,
  act: Act,
  name: string,
  given: Partial<ScopeRequest>,
): Promise<ChangedScope> => changeTx(tx, act, name, planSet(name, given));

/** {@link ScopeCatalogue.delete} in a transaction of the caller. */
export const deleteScopeTx = (tx: Transaction, act: Act, name: string): Promise<ChangedScope> =>
  changeTx(tx, act, name, planDeletion(name));

async function changeTx(tx: Transaction, { principal, now }: Act, name: string, plan: MakePlan): Promise<ChangedScope> {
  const operation = { principal, name, plan, kind: '' };
  const { after, event, narrowing: kind } = await planTx(tx, operation, now, await lockTx(tx, name));
  return { recorded: kind ? [{ kind, id: name, at: after.updatedAt }] : [], isChanged: event !== undefined };
}

interface Operation {
  readonly principal: Principal;
  readonly name: string;
  readonly plan: MakePlan;
  /** Two changes of one scope and revision with the same text do the same. */
  readonly kind: string;
}

interface Found {
  readonly before: ScopeRow | undefined;
  readonly scopesCount: number;
}

async function lockTx(tx: Transaction, name: string): Promise<Found> {
  await lockAdministrationTx(tx);
  const [before, scopesCount] = await store.readScopeTx(tx, name);
  return { before, scopesCount };
}

/** @returns the plan, with the revision before it; undefined if there was no such scope */
async function planTx(
  tx: Transaction,
  { principal, plan }: Operation,
  now: number,
  { before, scopesCount }: Found,
): Promise<Plan & { readonly revision: number | undefined }> {
  const made = plan(before, scopesCount, now);
  const { after, event } = made;
  await store.storeScopeTx(tx, after);
  if (event) await recordEventTx(tx, { at: after.updatedAt, principal, target: after.name, ...event });
  return { ...made, revision: before?.revision };
}

/** Each change of a scope has a later time than the previous one: the deletion journal identifies it by its time. */
const versionAfter = (
  before: ScopeRow | undefined,
  name: string,
  now: number,
): Pick<ScopeRow, 'name' | 'createdAt' | 'updatedAt' | 'revision'> => ({
  name,
  createdAt: before?.createdAt ?? now,
  updatedAt: before ? Math.max(now, before.updatedAt + 1) : now,
  revision: (before?.revision ?? 0) + 1,
});

const isScopeName = (name: string): boolean => scopePattern.test(name) && name.length <= limits.scopeCharsMax;

/** @throws DomainError `scope_invalid` */
function assertDeclarable(name: string): void {
  if (!isScopeName(name)) throw new DomainError('scope_invalid');
  if (name.startsWith(reservedPrefix))
    throw new DomainError('scope_invalid', { detail: `Scopes that begin with ${reservedPrefix} cannot be declared.` });
}

/** @throws DomainError `invalid_request` */
function assertDescription(description: string): void {
  const charsMax = limits.scopeDescriptionCharsMax;
  // As JSON Schema counts: code points.
  if ([...description].length <= charsMax && isPrintable(withoutNeededJoiners(description))) return;
  const detail = `Expected at most ${charsMax} printable characters.`;
  throw new DomainError('invalid_request', {
    detail,
    errors: [{ pointer: '/description', detail, code: 'not_printable', limit: charsMax }],
  });
}

const notFound = (name: string): DomainError =>
  new DomainError('scope_not_found', { detail: `The scope ${name.slice(0, limits.scopeCharsMax)} is not declared.` });
