/**
 * Takes scopes away from all keys that have them while the keys are verified: removes the entitlement of an account, marks a
 * scope as in need of an entitlement, deletes a scope. Only for a service that enforces the scope catalogue.
 */
import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { monotonicMs } from '../src/foundation/clock.ts';
import { DomainError } from '../src/foundation/errors.ts';
import type { CanaryKey, CatalogueChanges } from './canaries.ts';
import { otherScope } from './changed-key.ts';
import { ChangingCondition } from './changing-condition.ts';
import type { AskedOfKey } from './condition.ts';
import type { KeyChangeKind } from './history.ts';
import { pauseMs } from './key-deletion.ts';
import { KeySource } from './key-source.ts';
import { ProbeLoops } from './probe-loops.ts';
import { pick } from './prober.ts';
import { askedOf } from './scenario-key.ts';
import type { ScenarioOptions } from './scenario-options.ts';

interface Taking {
  readonly kind: KeyChangeKind;
  readonly make: () => Promise<void>;
}

/** A scope of the catalogue that this scenario takes away from all keys of one account. */
interface ChangingScope {
  readonly name: string;
  /** Puts it in force on keys of the account. */
  readonly grant: (catalogue: CatalogueChanges, accountId: string) => Promise<void>;
  readonly takings: (catalogue: CatalogueChanges, accountId: string) => readonly Taking[];
}

const keysPerAccount = 2;

const entitledScope: ChangingScope = {
  name: 'canary:entitled',
  grant: async (catalogue, accountId) => {
    await catalogue.setScope('canary:entitled', true);
    await catalogue.setEntitlements(accountId, ['canary:entitled']);
  },
  takings: (catalogue, accountId) => [{ kind: 'entitlement', make: () => catalogue.setEntitlements(accountId, []) }],
};

const declaredScope = (name: string): ChangingScope => ({
  name,
  grant: (catalogue) => catalogue.setScope(name, false),
  takings: (catalogue) => [
    { kind: 'scopeMarked', make: () => catalogue.setScope(name, true) },
    { kind: 'scopeDeleted', make: () => catalogue.deleteScope(name) },
  ],
});

export async function runEntitlementScenario(options: ScenarioOptions): Promise<void> {
  while (!options.isOver()) await takeAndGrant(entitledScope, options);
}

export async function runDeclaredScopeScenario(options: ScenarioOptions): Promise<void> {
  // A change with an unknown outcome may take effect later, so the next keys have another scope.
  for (let number = 1; !options.isOver(); number++)
    await takeAndGrant(declaredScope(`canary:declared-${number}`), options);
}

/** Ends with the run, or after a change with an unknown outcome. */
async function takeAndGrant(scope: ChangingScope, options: ScenarioOptions): Promise<void> {
  const { canaries, prober, loops, probesMax, isOver } = options;
  const { catalogue } = canaries;
  if (!catalogue) return;
  const condition = new ChangingCondition(`scope ${scope.name}`, 'accepted_after_narrowing');
  const source = await newSource(scope, catalogue, options);
  const keys: CanaryKey[] = [];
  for (let left = source ? keysPerAccount : 0; left > 0; left--) {
    // The condition is the same for all keys of the account.
    const ask = (id: number): AskedOfKey => askedOf(id, scope.name, { scope: condition });
    const key = await source?.newKey('created', { scopes: [otherScope, scope.name], ask });
    if (key) keys.push(key);
  }
  if (!source || keys.length === 0) {
    await setTimeout(pauseMs);
    return;
  }
  const { id } = source.session.account;
  const probes = new ProbeLoops(loops, () => prober.probeAnywhere(pick(keys)));
  for (let isKnown = true; isKnown && !isOver();) {
    await probes.more(1 + randomInt(probesMax));
    isKnown = await change(pick(scope.takings(catalogue, id)), 'unmet', { condition, keys }, options);
    if (!isKnown) break;
    await probes.more(1 + randomInt(probesMax));
    isKnown = await change(
      { kind: 'widened', make: () => scope.grant(catalogue, id) },
      'met',
      { condition, keys },
      options,
    );
  }
  await probes.stop();
  for (const key of keys) prober.live.delete(key);
}

/** @returns undefined if neither the database nor an instance is reachable */
async function newSource(
  scope: ChangingScope,
  catalogue: CatalogueChanges,
  options: ScenarioOptions,
): Promise<KeySource | undefined> {
  try {
    const account = await options.canaries.newAccount();
    options.canaries.addScope(scope.name);
    await scope.grant(catalogue, account.id);
    return new KeySource(account, options);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return undefined;
  }
}

interface Target {
  readonly condition: ChangingCondition;
  readonly keys: readonly CanaryKey[];
}

/** Makes a change, with verifications everywhere before and after it. @returns whether the outcome is known */
async function change(
  { kind, make }: Taking,
  to: 'met' | 'unmet',
  { condition, keys }: Target,
  { checker, prober }: ScenarioOptions,
): Promise<boolean> {
  const before = keys.map((key) => prober.probeEverywhere(key));
  const begun = checker.beginKeyChange(kind, [{ condition, to }], `change ${kind} of a scope`, monotonicMs());
  let isKnown = true;
  try {
    await make();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    isKnown = false;
  }
  checker.endKeyChange(begun, isKnown ? 'changed' : 'unknown', monotonicMs());
  await Promise.all([...before, ...keys.map((key) => prober.probeEverywhere(key))]);
  return isKnown;
}
