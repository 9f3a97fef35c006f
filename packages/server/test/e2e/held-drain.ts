/**
 * Preloaded into the service (`NODE_OPTIONS=--import`): the first half of its drain, in which it serves as before, ends at SIGUSR2.
 * So a test has as much time as it needs for its requests. TEST_HELD_MS is the duration that is held.
 */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

const { setTimeout: sleep } = timers;
const heldMs = Number(process.env['TEST_HELD_MS']);
const released = Promise.withResolvers<void>();
process.on('SIGUSR2', () => released.resolve());

timers.setTimeout = (async (ms: number, ...rest: [undefined, object]) => {
  await (ms === heldMs ? released.promise : sleep(ms, ...rest));
}) as typeof sleep;
syncBuiltinESMExports();
