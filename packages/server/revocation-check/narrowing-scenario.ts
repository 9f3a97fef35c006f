/**
 * Changes keys while they are verified: disables and enables them, removes scopes and adds them again, changes IP ranges,
 * rotates secrets, ends the previous secret, reports secrets as leaked and deletes keys during an overlap. A second scenario
 * waits for times: the end of an overlap and the expiry of a key.
 */
import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { monotonicMs, systemClock } from '../src/foundation/clock.ts';
import { ChangedKey } from './changed-key.ts';
import { forEachKey } from './scenario-key.ts';
import type { ScenarioOptions } from './scenario-options.ts';
import { pauseMs } from './key-deletion.ts';
import type { KeySource } from './key-source.ts';
import { pick } from './prober.ts';
import type { ProbeLoops } from './probe-loops.ts';
import { inRandomRounds } from './random.ts';

type Step = (key: ChangedKey) => Promise<void>;

/** Longer than a key of the scenario exists. */
const longOverlapSeconds = 3_600;
/** The difference of clocks that the checker tolerates, and longer. */
const shortOverlapSeconds = [1, 2] as const;
const shortExpiryMs = 1_500;
/** Of a key, before its deletion. */
const stepsMax = 6;
/** One key in so many belongs to a caller. */
const keysPerCaller = 4;

const steps: readonly Step[] = [
  async (key) => {
    await key.setDisabled(true);
    await key.setDisabled(false);
  },
  async (key) => {
    if (!key.hasScope) return;
    await key.setScope(false);
    await key.setScope(true);
  },
  async (key) => {
    await key.setAddresses(pick(['with', 'without']));
    await key.setAddresses(pick(['with', 'without', 'any']));
    await key.setAddresses('any');
  },
  async (key) => {
    await key.rotate(0, true);
  },
  async (key) => {
    await key.rotate(longOverlapSeconds, true);
    await key.endPrevious();
  },
  async (key) => {
    await key.leakCurrent();
  },
  async (key) => {
    await key.rotate(longOverlapSeconds, true);
    await key.leakPrevious();
  },
  async (key) => {
    await key.rotate(longOverlapSeconds, true);
    await key.leakCurrent();
  },
  async (key) => {
    await key.rotate(longOverlapSeconds, true);
    // As after a lost response to the rotation.
    await key.replaceCurrent();
  },
  async (key) => {
    await key.rotate(longOverlapSeconds, true);
    // Disabling and enabling concern both secrets.
    await key.setDisabled(true);
    await key.setDisabled(false);
    await key.rotate(longOverlapSeconds, true);
  },
];

/** Creates keys one after the other; each gets some changes, and is deleted, often during an overlap. */
export async function runNarrowingScenario(options: ScenarioOptions): Promise<void> {
  // In rounds, so that also a short run takes each step.
  const nextSteps = inRandomRounds(steps);
  await forEachChangedKey(options, async (key, probes) => {
    for (let left = 1 + randomInt(stepsMax); left > 0 && !options.isOver(); left--) {
      await probes.more(1 + randomInt(options.probesMax));
      await nextSteps.next().value(key);
    }
    if (randomInt(2) === 0) await key.rotate(longOverlapSeconds, true);
  });
}

/** Waits until the previous secret of a key ends, or until the key expires, and verifies it meanwhile. */
export async function runEndingScenario(options: ScenarioOptions): Promise<void> {
  let turn = 0;
  await forEachChangedKey(options, async (key, probes) => {
    if (turn++ % 2 === 0) {
      await waitUntil(await key.rotate(pick(shortOverlapSeconds)), options);
      await key.probeEverywhere();
      key.forgetPrevious();
    } else {
      await waitUntil(await key.expireSoon(shortExpiryMs, systemClock.now()), options);
      await key.probeEverywhere();
      await key.neverExpire();
    }
    await probes.more(1 + randomInt(options.probesMax));
  });
}

function forEachChangedKey(
  options: ScenarioOptions,
  change: (key: ChangedKey, probes: ProbeLoops) => Promise<void>,
): Promise<void> {
  let count = 0;
  const create = (source: KeySource): Promise<ChangedKey | undefined> =>
    ChangedKey.create(count++ % keysPerCaller === keysPerCaller - 1 ? 'caller' : 'created', source, options);
  return forEachKey(options, create, change);
}

/** @param time of `monotonicMs` */
async function waitUntil(time: number, { isOver }: ScenarioOptions): Promise<void> {
  while (monotonicMs() <= time && !isOver()) await setTimeout(Math.min(pauseMs, Math.max(1, time - monotonicMs())));
}
