/**
 * Checks a history while it is recorded, in memory that grows with the number of keys, not of verifications.
 *
 * A history is valid if every operation can take effect at one moment between its start and its end such that the response
 * is correct at that moment (linearizability). The checker checks each key separately: it is valid until it is deleted,
 * once, and verifications, lists and the audit log agree. It checks each other condition separately: an account or a key is
 * enabled until disabled, and again; a scope, an IP range and an expiry allow a verification or do not; a secret is valid
 * until it ends, once.
 *
 * The check is exact for a deleted key of an account that is never disabled, and for a disabled account without deleted
 * keys, except for a verification that overlaps two changes of its account. In that case, and if one verification depends on
 * several conditions that change, the checker may miss a violation but never reports a false one.
 *
 * The caller reports operations when they end, in that order; deletions and changes also when they begin.
 */
import { ChangingCondition } from './changing-condition.ts';
import type { Asked, ChangeableCondition, Condition } from './condition.ts';
import type {
  AccountState,
  Change,
  ChangeOutcome,
  Deletion,
  DeletionOutcome,
  Interval,
  KeyChangeKind,
  KeyKind,
  Observation,
  ObservedResult,
  Verification,
  Violation,
} from './history.ts';
import { KeyRecord } from './key-record.ts';
import { Latencies } from './latencies.ts';
import { narrowingsIn, noKeyChanges, type Report } from './report.ts';

/** Enough to diagnose a failure; a broken build can cause millions of violations. */
const examplesMax = 20;
/**
 * A time that a response states takes effect when the clock of another instance, or of the database, shows it. Clocks of
 * machines that synchronise them differ by less.
 */
const clockDifferenceMsMax = 1_000;

/** What a change of a key does to one condition. */
export interface Effect {
  readonly condition: ChangeableCondition;
  readonly to: Change['to'];
  /** Takes effect at the time that the response states, not with the request. */
  readonly isDelayed?: boolean;
}

interface KeyChange {
  readonly kind: KeyChangeKind;
  readonly effects: readonly (Effect & { readonly change: Change })[];
}

interface AccountKeys {
  readonly all: KeyRecord[];
  /** The keys without an acknowledged deletion: a list must contain them. */
  readonly open: Set<KeyRecord>;
}

export class Checker {
  readonly #keys = new Map<number, KeyRecord>();
  readonly #keysOf = new Map<string, AccountKeys>();
  readonly #accounts = new Map<string, ChangingCondition>();
  readonly #examples: Violation[] = [];
  readonly #counts = { accepted: 0, rejected: 0, unknown: 0, afterRevocation: 0, changes: 0, lists: 0 };
  readonly #keyChanges = { ...noKeyChanges };
  readonly #deletions = { acknowledged: 0, unknown: 0, created: 0, caller: 0, imported: 0 };
  readonly #verifyLatencies = new Latencies();
  readonly #deleteLatencies = new Latencies();
  /** Called for each violation. */
  onViolation: ((violation: Violation) => void) | undefined;
  #violations = 0;
  #acceptedAfterMsMax: number | null = null;
  #rejectedAfterMsMin: number | null = null;

  get violations(): number {
    return this.#violations;
  }

  get deletions(): number {
    return this.#deletions.acknowledged;
  }

  /** Acknowledged changes of keys that remove rights. */
  get narrowings(): number {
    return narrowingsIn(this.#keyChanges);
  }

  /** @param createdAt when the response to the creation arrived */
  addKey(id: number, accountId: string, createdAt: number, kind: KeyKind = 'created'): void {
    const key = new KeyRecord(id, accountId, createdAt, kind);
    this.#keys.set(id, key);
    const keys = this.#keysOf.get(accountId) ?? { all: [], open: new Set() };
    keys.all.push(key);
    keys.open.add(key);
    this.#keysOf.set(accountId, keys);
    if (this.#accounts.has(accountId)) return;
    this.#accounts.set(accountId, new ChangingCondition(`account ${accountId}`, 'accepted_while_disabled'));
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

  beginChange(accountId: string, to: AccountState, source: string, startedAt: number): Change {
    const change = newChange(to === 'disabled' ? 'unmet' : 'met', source, startedAt);
    this.#account(accountId).beginChange(change);
    return change;
  }

  /** @param isKnown false if the change may take effect at any later time, or never */
  endChange(change: Change, isKnown: boolean, endedAt: number): void {
    if (!isKnown) return;
    change.endedAt = endedAt;
    this.#counts.changes++;
  }

  beginKeyChange(kind: KeyChangeKind, effects: readonly Effect[], source: string, startedAt: number): KeyChange {
    const begun = effects.map((effect) => ({ ...effect, change: newChange(effect.to, source, startedAt) }));
    for (const { condition, change } of begun) condition.beginChange(change);
    return { kind, effects: begun };
  }

  /**
   * @param delayMs from the change to the time at which its delayed effects begin, by the clock of the service
   * @returns when all effects have begun
   */
  endKeyChange({ kind, effects }: KeyChange, outcome: ChangeOutcome, endedAt: number, delayMs = 0): number {
    const delayedTo = endedAt + delayMs + clockDifferenceMsMax;
    if (outcome === 'unknown') this.#keyChanges.unknown++;
    if (outcome === 'changed') {
      this.#keyChanges.acknowledged++;
      this.#keyChanges[kind]++;
    }
    for (const { condition, change, isDelayed = false } of effects) {
      if (outcome === 'rejected') this.#record(condition.withdraw(change));
      if (outcome !== 'changed') continue;
      if (!isDelayed) change.endedAt = endedAt;
      else
        this.#record(
          condition.confine(change, {
            startedAt: change.startedAt + delayMs - clockDifferenceMsMax,
            endedAt: delayedTo,
          }),
        );
    }
    return effects.some(({ isDelayed }) => isDelayed) ? delayedTo : endedAt;
  }

  /** @param asked the conditions of a key that is changed; absent for a key that is only deleted */
  verified(id: number, verification: Verification, asked?: Asked): void {
    const { result, startedAt, endedAt, source } = verification;
    if (result === 'unknown') {
      this.#counts.unknown++;
      return;
    }
    this.#verifyLatencies.add(endedAt - startedAt);
    const key = this.#key(id);
    const account = this.#account(key.accountId);
    if (result === 'wrong_key') {
      this.#record({ rule: 'mistaken_identity', explanation: `key ${id}: ${source} returned another identity` });
      this.#measure([key, account], verification);
      return;
    }
    const sinceRevocationMs = this.#measure(
      [key, account, ...Object.values<Condition | undefined>({ ...asked })].filter((one) => one !== undefined),
      verification,
    );
    const violation = this.#check(key, account, verification, asked);
    if (violation && result === 'accepted' && sinceRevocationMs > 0)
      this.#acceptedAfterMsMax = Math.max(this.#acceptedAfterMsMax ?? 0, sinceRevocationMs);
  }

  /**
   * An exchange of a token for a short-lived secret. Its result follows from the conditions like that of a verification, and counts as
   * none.
   * @param asked the conditions; `secret`: that of all secrets which are issued for such tokens
   */
  exchanged(
    id: number,
    exchange: Verification & { readonly result: 'accepted' | 'rejected' | 'unknown' },
    asked: Asked,
  ): void {
    const key = this.#key(id);
    if (exchange.result !== 'unknown') this.#check(key, this.#account(key.accountId), exchange, asked);
  }

  /** Two instances have accepted one token that is accepted once, or one device code. */
  exchangedTwice(id: number): void {
    this.#record({ rule: 'exchanged_twice', explanation: `key ${id}: one token or code was exchanged twice` });
  }

  /** A list of an account's keys. It may lack keys whose creation overlaps the request. */
  listed(accountId: string, { startedAt, endedAt }: Interval, source: string, ids: ReadonlySet<number>): void {
    this.#counts.lists++;
    const by = 'list';
    for (const id of ids) {
      const key = this.#keys.get(id);
      this.#record(key?.observedMet({ by, source, observed: 'listed', startedAt, endedAt }));
    }
    for (const key of this.#keysOf.get(accountId)?.open ?? []) {
      if (!ids.has(key.id)) key.observedUnmet({ by, source, observed: 'missing in the list', startedAt, endedAt });
    }
  }

  /** @param deletions the number of deletions that the audit log records, by key; keys without one may be absent */
  auditRead(accountId: string, { startedAt, endedAt }: Interval, deletions: ReadonlyMap<number, number>): void {
    const source = 'the audit log';
    for (const key of this.#keysOf.get(accountId)?.all ?? []) {
      const count = deletions.get(key.id) ?? 0;
      const observed = count === 0 ? 'without a record of its deletion' : 'recorded as deleted';
      const observation: Observation = { by: 'audit log', source, observed, startedAt, endedAt };
      if (count === 0) this.#record(key.observedMet(observation));
      else key.observedUnmet(observation);
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
      keyChanges: { ...this.#keyChanges },
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

  /** @returns the violation, if one of the conditions that the result shows as met cannot have been met */
  #check(
    key: KeyRecord,
    account: ChangingCondition,
    verification: Verification,
    asked: Asked | undefined,
  ): Violation | undefined {
    const { result, ...interval } = verification;
    if (result === 'unknown' || result === 'wrong_key') return undefined;
    const observation: Observation = { by: 'verification', observed: result.replace('_', ' '), ...interval };
    const { met, unmet } = meaningOf(result, key, account, asked);
    const violation = firstOf(met, (condition) => condition.observedMet(observation));
    this.#record(violation);
    if (violation || unmet.length === 0) return violation;
    // If several conditions may explain the rejection, it proves none of them.
    const [cause, ...others] = unmet.filter((condition) => condition.mayBeUnmet(observation));
    if (others.length === 0) this.#record((cause ?? unmet[0])?.observedUnmet(observation));
    return undefined;
  }

  /** Counts the verification. @returns milliseconds from a revocation's response to its start; 0 or less without one */
  #measure(conditions: readonly Condition[], { result, startedAt }: Verification): number {
    if (result === 'accepted') this.#counts.accepted++;
    else this.#counts.rejected++;
    const sinceMs = startedAt - Math.min(...conditions.map((condition) => condition.unmetSince(startedAt)));
    if (sinceMs <= 0) return sinceMs;
    this.#counts.afterRevocation++;
    if (result !== 'accepted') this.#rejectedAfterMsMin = Math.min(this.#rejectedAfterMsMin ?? Infinity, sinceMs);
    return sinceMs;
  }

  #record(violation: Violation | undefined): void {
    if (!violation) return;
    this.#violations++;
    this.onViolation?.(violation);
    if (this.#examples.length < examplesMax) this.#examples.push(violation);
  }

  #key(id: number): KeyRecord {
    const key = this.#keys.get(id);
    if (!key) throw new Error(`key ${id} is not recorded as created`);
    return key;
  }

  #account(id: string): ChangingCondition {
    const account = this.#accounts.get(id);
    if (!account) throw new Error(`account ${id} has no recorded key`);
    return account;
  }
}

const newChange = (to: Change['to'], source: string, startedAt: number): Change => ({
  to,
  source,
  startedAt,
  endedAt: Infinity,
  observedBy: Infinity,
});

function firstOf(
  conditions: readonly Condition[],
  check: (condition: Condition) => Violation | undefined,
): Violation | undefined {
  let first: Violation | undefined;
  for (const condition of conditions) {
    const violation = check(condition);
    first ??= violation;
  }
  return first;
}

interface Meaning {
  /** The conditions that the result shows as met. */
  readonly met: readonly Condition[];
  /** At least one of these is unmet. */
  readonly unmet: readonly Condition[];
}

/** The order of the service: secret, account and key enabled, expiry, client IP, scope. */
function meaningOf(
  result: Exclude<ObservedResult, 'unknown' | 'wrong_key'>,
  key: Condition,
  account: Condition,
  asked: Asked | undefined,
): Meaning {
  const { secret, enabled, unexpired, address, scope } = asked ?? {};
  const those = (...conditions: readonly (Condition | undefined)[]): Condition[] =>
    conditions.filter((condition) => condition !== undefined);
  const valid = those(key, account, secret, enabled, unexpired);
  switch (result) {
    case 'accepted':
      return { met: [...valid, ...those(address, scope)], unmet: [] };
    case 'not_found':
      return { met: [], unmet: those(key, secret) };
    case 'disabled':
      return { met: [key], unmet: those(account, enabled) };
    case 'expired':
      return { met: those(key, account, enabled), unmet: those(secret, unexpired) };
    case 'address':
      return { met: valid, unmet: those(address) };
    case 'scope':
      return { met: [...valid, ...those(address)], unmet: those(scope) };
    case 'forbidden':
      return { met: valid, unmet: those(address, scope) };
    case 'rejected':
      return { met: [], unmet: [...valid, ...those(address)] };
  }
}
