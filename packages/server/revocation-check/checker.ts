/**
 * Judges a history while it is recorded, in memory that grows with the keys and not with their verifications.
 *
 * A history is good if every operation can be given one moment between its start and its end such that the service
 * answered as it should at that moment. Each key is judged by itself: that it lives until it is deleted, once, and
 * that what verifications, lists and the audit trail tell of it fits. So is each account: that it is enabled until it
 * is disabled, and again. For a key that is deleted in an account that is never disabled, and the other way round, the
 * judgement is exact, but for a verification that overlaps two changes of its account; there, and where a key is
 * deleted in an account that is disabled as well, it may miss something, but never accuses wrongly.
 *
 * Operations are told when they end, in that order; deletions and changes also when they begin.
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

/** More would be read by nobody. */
const examplesMax = 20;

interface AccountKeys {
  readonly all: KeyRecord[];
  /** Those whose deletion wasn't acknowledged: of the others, a list that lacks them tells nothing. */
  readonly open: Set<KeyRecord>;
}

export class Checker {
  readonly #keys = new Map<number, KeyRecord>();
  readonly #keysOf = new Map<string, AccountKeys>();
  readonly #accounts = new Map<string, AccountRecord>();
  readonly #examples: Violation[] = [];
  readonly #counts = { accepted: 0, refused: 0, unknown: 0, afterRevocation: 0, changes: 0, lists: 0 };
  readonly #deletions = { acknowledged: 0, unknown: 0, created: 0, caller: 0, imported: 0 };
  readonly #verifyLatencies = new Latencies();
  readonly #deleteLatencies = new Latencies();
  #violations = 0;
  #acceptedAfterMsMax: number | null = null;
  #refusedAfterMsMin: number | null = null;

  get violations(): number {
    return this.#violations;
  }

  get deletions(): number {
    return this.#deletions.acknowledged;
  }

  /** A key and when its creation was answered. */
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
    this.#note(key.endDeletion(deletion));
  }

  beginChange(accountId: string, to: AccountState, source: string, startedAt: number): AccountChange {
    const change: AccountChange = { to, source, startedAt, endedAt: Infinity, seenBy: Infinity };
    this.#account(accountId).beginChange(change);
    return change;
  }

  /** @param isKnown false when it may take effect at any time from now on, or never */
  endChange(change: AccountChange, isKnown: boolean, endedAt: number): void {
    if (!isKnown) return;
    change.endedAt = endedAt;
    this.#counts.changes++;
  }

  verified(id: number, verification: Verification): void {
    const { verdict, startedAt, endedAt, source } = verification;
    if (verdict === 'unknown') {
      this.#counts.unknown++;
      return;
    }
    this.#verifyLatencies.add(endedAt - startedAt);
    const key = this.#key(id);
    const account = this.#account(key.accountId);
    const observation: Observation = { by: 'verification', source, saw: verdict.replace('_', ' '), startedAt, endedAt };
    const revokedAgoMs = this.#measure(key, account, verification);
    switch (verdict) {
      case 'accepted': {
        const violation = key.sawAlive(observation) ?? account.saw('enabled', observation);
        if (violation && revokedAgoMs > 0)
          this.#acceptedAfterMsMax = Math.max(this.#acceptedAfterMsMax ?? 0, revokedAgoMs);
        return this.#note(violation);
      }
      case 'not_found':
        return key.sawDead(observation);
      case 'disabled':
        return this.#note(key.sawAlive(observation) ?? account.saw('disabled', observation));
      case 'refused':
        // Either of the two, where both are possible, says nothing.
        if (!account.mayBe('disabled', observation)) key.sawDead(observation);
        else if (!key.mayBeDeletedBy(endedAt)) this.#note(account.saw('disabled', observation));
        return;
      case 'mistaken':
        this.#note({ rule: 'mistaken_identity', explanation: `key ${id}: ${source} answered with another identity` });
    }
  }

  /** An account’s list as it was shown. Keys that were made while it was asked for may be in it or not. */
  listed(accountId: string, { startedAt, endedAt }: Interval, source: string, ids: ReadonlySet<number>): void {
    this.#counts.lists++;
    const shown = [...ids].flatMap((id) => this.#keys.get(id) ?? []);
    for (const key of shown) {
      this.#note(key.sawAlive({ by: 'list', source, saw: 'listed', startedAt, endedAt }));
    }
    for (const key of this.#keysOf.get(accountId)?.open ?? []) {
      if (!ids.has(key.id)) key.sawDead({ by: 'list', source, saw: 'missing in the list', startedAt, endedAt });
    }
  }

  /** @param deletions how many deletions the audit trail records, by key; keys without any may be left out */
  auditRead(accountId: string, { startedAt, endedAt }: Interval, deletions: ReadonlyMap<number, number>): void {
    const source = 'the audit trail';
    for (const key of this.#keysOf.get(accountId)?.all ?? []) {
      const count = deletions.get(key.id) ?? 0;
      const saw = count === 0 ? 'without a record of its deletion' : 'recorded as deleted';
      const observation: Observation = { by: 'audit trail', source, saw, startedAt, endedAt };
      if (count === 0) this.#note(key.sawAlive(observation));
      else key.sawDead(observation);
      if (count > 1) {
        const explanation = `key ${key.id}: the audit trail records ${count} deletions of it`;
        this.#note({ rule: 'audit_disagrees', explanation });
      }
    }
  }

  /** Once, when every operation has ended: one that is still running counts as unknown. */
  finish(): Report {
    let acceptedBeforeMsMin: number | null = null;
    for (const key of this.#keys.values()) {
      this.#note(key.finish());
      const { lastAlive, deleted } = key;
      if (lastAlive?.by !== 'verification' || !deleted) continue;
      const ms = deleted.endedAt - lastAlive.startedAt;
      if (ms >= 0 && (acceptedBeforeMsMin === null || ms < acceptedBeforeMsMin)) acceptedBeforeMsMin = ms;
    }
    const { accepted, refused, unknown, afterRevocation, changes, lists } = this.#counts;
    return {
      verifications: { total: accepted + refused + unknown, accepted, refused, unknown, afterRevocation },
      deletions: { ...this.#deletions },
      accountChanges: changes,
      lists,
      violations: this.#violations,
      examples: this.#examples,
      acceptedAfterMsMax: this.#acceptedAfterMsMax,
      refusedAfterMsMin: this.#refusedAfterMsMin,
      acceptedBeforeMsMin,
      verifyLatency: this.#verifyLatencies.summary(),
      deleteLatency: this.#deleteLatencies.summary(),
    };
  }

  /** Counts it. @returns how long after a revocation’s answer it started; 0 or less when there was none before */
  #measure({ deleted }: KeyRecord, account: AccountRecord, { verdict, startedAt }: Verification): number {
    if (verdict === 'accepted') this.#counts.accepted++;
    else this.#counts.refused++;
    const change = account.lastChangeBefore(startedAt);
    const disabledAt = change?.to === 'disabled' ? change.endedAt : Infinity;
    const agoMs = startedAt - Math.min(deleted?.endedAt ?? Infinity, disabledAt);
    if (agoMs <= 0) return agoMs;
    this.#counts.afterRevocation++;
    if (verdict !== 'accepted') this.#refusedAfterMsMin = Math.min(this.#refusedAfterMsMin ?? Infinity, agoMs);
    return agoMs;
  }

  #note(violation: Violation | undefined): void {
    if (!violation) return;
    this.#violations++;
    if (this.#examples.length < examplesMax) this.#examples.push(violation);
  }

  #key(id: number): KeyRecord {
    const key = this.#keys.get(id);
    if (!key) throw new Error(`key ${id} was never recorded as created`);
    return key;
  }

  #account(id: string): AccountRecord {
    const account = this.#accounts.get(id);
    if (!account) throw new Error(`account ${id} has no recorded key`);
    return account;
  }
}
