/**
 * Checks a history while it is recorded, in memory that grows with the number of keys, not of verifications.
 *
 * A history is valid if every operation can take effect at one moment between its start and its end such that the response
 * is correct at that moment (linearizability). The checker checks each key separately: it is valid until it is deleted,
 * once, and verifications, lists and the audit log agree. It checks each account separately: enabled until disabled, and
 * again.
 *
 * The check is exact for a deleted key of an account that is never disabled, and for a disabled account without deleted
 * keys, except for a verification that overlaps two changes of its account. In that case, and if a key is deleted in an
 * account that is also disabled, the checker may miss a violation but never reports a false one.
 *
 * The caller reports operations when they end, in that order; deletions and changes also when they begin.
 */
import { AccountRecord } from './account-record.ts';
import type {
  AccountChange,
  AccountState,
  Deletion,
  DeletionOutcome,
  Interval,
  KeyKind,
  Observation,
  Verification,
  Violation,
} from './history.ts';
import { KeyRecord } from './key-record.ts';
import { Latencies } from './latencies.ts';
import type { Report } from './report.ts';

/** Enough to diagnose a failure; a broken build can cause millions of violations. */
const examplesMax = 20;

interface AccountKeys {
  readonly all: KeyRecord[];
  /** The keys without an acknowledged deletion: a list must contain them. */
  readonly open: Set<KeyRecord>;
}

export class Checker {
  readonly #keys = new Map<number, KeyRecord>();
  readonly #keysOf = new Map<string, AccountKeys>();
  readonly #accounts = new Map<string, AccountRecord>();
  readonly #examples: Violation[] = [];
  readonly #counts = { accepted: 0, rejected: 0, unknown: 0, afterRevocation: 0, changes: 0, lists: 0 };
  readonly #deletions = { acknowledged: 0, unknown: 0, created: 0, caller: 0, imported: 0 };
  readonly #verifyLatencies = new Latencies();
  readonly #deleteLatencies = new Latencies();
  #violations = 0;
  #acceptedAfterMsMax: number | null = null;
  #rejectedAfterMsMin: number | null = null;

  get violations(): number {
    return this.#violations;
  }

  get deletions(): number {
    return this.#deletions.acknowledged;
  }

  /** @param createdAt when the response to the creation arrived */
  addKey(id: number, accountId: string, createdAt: number, kind: KeyKind = 'created'): void {
    const key = new KeyRecord(id, accountId, createdAt, kind);
    this.#keys.set(id, key);
    const keys = this.#keysOf.get(accountId) ?? { all: [], open: new Set() };
    keys.all.push(key);
    keys.open.add(key);
    this.#keysOf.set(accountId, keys);
    if (!this.#accounts.has(accountId)) this.#accounts.set(accountId, new AccountRecord(accountId));
  }

  hasKey(id: number): boolean {
    return this.#keys.has(id);
  }

  beginDeletion(id: number, source: string, startedAt: number): Deletion {
    const deletion: Deletion = { source, startedAt, endedAt: Infinity, outcome: 'running' };
    this.#key(id).beginDeletion(deletion);
    return deletion;
  }

  endDeletion(id: number, deletion: Deletion, outcome: DeletionOutcome, endedAt: number): void {
    deletion.outcome = outcome;
    if (outcome === 'unknown') this.#deletions.unknown++;
    else deletion.endedAt = endedAt;
    if (outcome === 'deleted') {
      this.#deletions.acknowledged++;
      this.#deleteLatencies.add(endedAt - deletion.startedAt);
    }
    const key = this.#key(id);
    if (outcome === 'deleted') {
      this.#deletions[key.kind]++;
      this.#keysOf.get(key.accountId)?.open.delete(key);
    }
    this.#record(key.endDeletion(deletion));
  }

  beginChange(accountId: string, to: AccountState, source: string, startedAt: number): AccountChange {
    const change: AccountChange = { to, source, startedAt, endedAt: Infinity, observedBy: Infinity };
    this.#account(accountId).beginChange(change);
    return change;
  }

  /** @param isKnown false if the change may take effect at any later time, or never */
  endChange(change: AccountChange, isKnown: boolean, endedAt: number): void {
    if (!isKnown) return;
    change.endedAt = endedAt;
    this.#counts.changes++;
  }

  verified(id: number, verification: Verification): void {
    const { result, startedAt, endedAt, source } = verification;
    if (result === 'unknown') {
      this.#counts.unknown++;
      return;
    }
    this.#verifyLatencies.add(endedAt - startedAt);
    const key = this.#key(id);
    const account = this.#account(key.accountId);
    const observed = result.replace('_', ' ');
    const observation: Observation = { by: 'verification', source, observed, startedAt, endedAt };
    const sinceRevocationMs = this.#measure(key, account, verification);
    switch (result) {
      case 'accepted': {
        const violation = key.observedValid(observation) ?? account.observed('enabled', observation);
        if (violation && sinceRevocationMs > 0)
          this.#acceptedAfterMsMax = Math.max(this.#acceptedAfterMsMax ?? 0, sinceRevocationMs);
        return this.#record(violation);
      }
      case 'not_found':
        return key.observedDeleted(observation);
      case 'disabled':
        return this.#record(key.observedValid(observation) ?? account.observed('disabled', observation));
      case 'rejected':
        // The result does not state the reason: if both reasons are possible, it proves neither.
        if (!account.mayBe('disabled', observation)) key.observedDeleted(observation);
        else if (!key.mayBeDeletedBy(endedAt)) this.#record(account.observed('disabled', observation));
        return;
      case 'wrong_key':
        this.#record({ rule: 'mistaken_identity', explanation: `key ${id}: ${source} returned another identity` });
    }
  }

  /** A list of an account's keys. It may lack keys whose creation overlaps the request. */
  listed(accountId: string, { startedAt, endedAt }: Interval, source: string, ids: ReadonlySet<number>): void {
    this.#counts.lists++;
    const by = 'list';
    for (const id of ids) {
      const key = this.#keys.get(id);
      this.#record(key?.observedValid({ by, source, observed: 'listed', startedAt, endedAt }));
    }
    for (const key of this.#keysOf.get(accountId)?.open ?? []) {
      if (!ids.has(key.id)) key.observedDeleted({ by, source, observed: 'missing in the list', startedAt, endedAt });
    }
  }

  /** @param deletions the number of deletions that the audit log records, by key; keys without one may be absent */
  auditRead(accountId: string, { startedAt, endedAt }: Interval, deletions: ReadonlyMap<number, number>): void {
    const source = 'the audit log';
    for (const key of this.#keysOf.get(accountId)?.all ?? []) {
      const count = deletions.get(key.id) ?? 0;
      const observed = count === 0 ? 'without a record of its deletion' : 'recorded as deleted';
      const observation: Observation = { by: 'audit log', source, observed, startedAt, endedAt };
      if (count === 0) this.#record(key.observedValid(observation));
      else key.observedDeleted(observation);
      if (count > 1) {
        const explanation = `key ${key.id}: the audit log records ${count} deletions of it`;
        this.#record({ rule: 'audit_disagrees', explanation });
      }
    }
  }

  /** Called once, after all operations. An operation that is still running counts as unknown. */
  finish(): Report {
    let acceptedBeforeMsMin: number | null = null;
    for (const key of this.#keys.values()) {
      this.#record(key.finish());
      const { lastValid, deletion } = key;
      if (lastValid?.by !== 'verification' || !deletion) continue;
      const ms = deletion.endedAt - lastValid.startedAt;
      if (ms >= 0 && (acceptedBeforeMsMin === null || ms < acceptedBeforeMsMin)) acceptedBeforeMsMin = ms;
    }
    const { accepted, rejected, unknown, afterRevocation, changes, lists } = this.#counts;
    const total = accepted + rejected + unknown;
    return {
      verifications: { total, accepted, refused: rejected, unknown, afterRevocation },
      deletions: { ...this.#deletions },
      accountChanges: changes,
      lists,
      violations: this.#violations,
      examples: this.#examples,
      acceptedAfterMsMax: this.#acceptedAfterMsMax,
      refusedAfterMsMin: this.#rejectedAfterMsMin,
      acceptedBeforeMsMin,
      verifyLatency: this.#verifyLatencies.summary(),
      deleteLatency: this.#deleteLatencies.summary(),
    };
  }

  /** Counts the verification. @returns milliseconds from a revocation's response to its start; 0 or less without one */
  #measure({ deletion }: KeyRecord, account: AccountRecord, { result, startedAt }: Verification): number {
    if (result === 'accepted') this.#counts.accepted++;
    else this.#counts.rejected++;
    const change = account.lastChangeBefore(startedAt);
    const disabledAt = change?.to === 'disabled' ? change.endedAt : Infinity;
    const sinceMs = startedAt - Math.min(deletion?.endedAt ?? Infinity, disabledAt);
    if (sinceMs <= 0) return sinceMs;
    this.#counts.afterRevocation++;
    if (result !== 'accepted') this.#rejectedAfterMsMin = Math.min(this.#rejectedAfterMsMin ?? Infinity, sinceMs);
    return sinceMs;
  }

  #record(violation: Violation | undefined): void {
    if (!violation) return;
    this.#violations++;
    if (this.#examples.length < examplesMax) this.#examples.push(violation);
  }

  #key(id: number): KeyRecord {
    const key = this.#keys.get(id);
    if (!key) throw new Error(`key ${id} is not recorded as created`);
    return key;
  }

  #account(id: string): AccountRecord {
    const account = this.#accounts.get(id);
    if (!account) throw new Error(`account ${id} has no recorded key`);
    return account;
  }
}
