/** Accounts that are disabled and enabled again while their keys are verified: the other way a key is revoked. */
import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { monotonicMs } from '../src/foundation/clock.ts';
import { DomainError } from '../src/foundation/errors.ts';
import { pick } from './prober.ts';
import { Probing } from './probing.ts';
import type { CanaryKey } from './canaries.ts';
import type { ScenarioOptions } from './deletion-scenario.ts';
import type { AccountState, KeyKind } from './history.ts';
import { KeySource } from './key-source.ts';

/** The keys of each account; fewer where an account may hold fewer. */
const kinds: readonly KeyKind[] = ['created', 'caller', 'created'];
/** Verifications between two changes. */
const asksMax = 48;
const pauseMs = 50;

export async function runDisablingScenario(options: ScenarioOptions): Promise<void> {
  while (!options.isOver()) {
    const keys = await newAccountWithKeys(options);
    if (keys.length > 0) await disableAndEnable(keys, options);
    else await setTimeout(pauseMs);
  }
}

/** None when neither the database nor an instance could be reached. */
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

/** Until the end, or until an outcome isn't known: from there on such an account could prove nothing. */
async function disableAndEnable(keys: readonly CanaryKey[], options: ScenarioOptions): Promise<void> {
  const { asker, askers, isOver } = options;
  const asking = new Probing(askers, () => asker.askSomewhere(pick(keys)));
  for (let to: AccountState = 'disabled'; ; to = to === 'disabled' ? 'enabled' : 'disabled') {
    await asking.more(1 + randomInt(asksMax));
    if (isOver()) break;
    const before = keys.map((key) => asker.askEverywhere(key));
    const isKnown = await change(keys, to, options);
    await Promise.all([...before, ...keys.map((key) => asker.askEverywhere(key))]);
    if (!isKnown) break;
  }
  await asking.stop();
  for (const key of keys) asker.live.delete(key);
}

/** @returns whether it is known to have taken effect */
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
