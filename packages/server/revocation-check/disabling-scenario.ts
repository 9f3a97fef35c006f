/** Disables and enables accounts again and again while their keys are verified. */
import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { monotonicMs } from '../src/foundation/clock.ts';
import { DomainError } from '../src/foundation/errors.ts';
import { pick } from './prober.ts';
import { ProbeLoops } from './probe-loops.ts';
import type { CanaryKey } from './canaries.ts';
import type { ScenarioOptions } from './scenario-options.ts';
import type { AccountState, KeyKind } from './history.ts';
import { KeySource } from './key-source.ts';

/** The keys of each account; fewer if the limit of keys per account is lower. */
const kinds: readonly KeyKind[] = ['created', 'caller', 'created'];
/** The maximum number of probes between two changes. */
const probesMax = 48;
const pauseMs = 50;

export async function runDisablingScenario(options: ScenarioOptions): Promise<void> {
  while (!options.isOver()) {
    const keys = await newAccountWithKeys(options);
    if (keys.length > 0) await disableAndEnable(keys, options);
    else await setTimeout(pauseMs);
  }
}

/** @returns no keys if neither the database nor an instance is reachable */
async function newAccountWithKeys(options: ScenarioOptions): Promise<CanaryKey[]> {
  const keys: CanaryKey[] = [];
  try {
    const source = new KeySource(await options.canaries.newAccount(), options);
    for (const kind of kinds) {
      const key = await source.newKey(kind);
      if (key) keys.push(key);
    }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
  }
  return keys;
}

/** Ends with the run, or after a change with an unknown outcome: the checker stops checking the account there. */
async function disableAndEnable(keys: readonly CanaryKey[], options: ScenarioOptions): Promise<void> {
  const { prober, loops, isOver } = options;
  const probes = new ProbeLoops(loops, () => prober.probeAnywhere(pick(keys)));
  for (let to: AccountState = 'disabled'; ; to = to === 'disabled' ? 'enabled' : 'disabled') {
    await probes.more(1 + randomInt(probesMax));
    if (isOver()) break;
    const before = keys.map((key) => prober.probeEverywhere(key));
    const isKnown = await change(keys, to, options);
    await Promise.all([...before, ...keys.map((key) => prober.probeEverywhere(key))]);
    if (!isKnown) break;
  }
  await probes.stop();
  for (const key of keys) prober.live.delete(key);
}

/** @returns whether the outcome is known */
async function change(
  [key]: readonly CanaryKey[],
  to: AccountState,
  { canaries, checker }: ScenarioOptions,
): Promise<boolean> {
  const accountId = key?.accountId ?? '';
  const source = to === 'disabled' ? 'disabling the account' : 'enabling the account';
  const running = checker.beginChange(accountId, to, source, monotonicMs());
  try {
    await canaries.change(accountId, to);
    checker.endChange(running, true, monotonicMs());
    return true;
  } catch (error) {
    checker.endChange(running, false, monotonicMs());
    if (!(error instanceof DomainError)) throw error;
    return false;
  }
}
