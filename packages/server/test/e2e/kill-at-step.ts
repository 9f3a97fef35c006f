/**
 * Preloaded into a command (`NODE_OPTIONS=--import`): kills the process before the call with the number TEST_KILL_AT, from 0, that
 * gives a file a name or removes one. A commit of the database is between two of these calls.
 */
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

let left = Number(process.env['TEST_KILL_AT']);

function killingBefore<Args extends unknown[], Result>(call: (...args: Args) => Result): (...args: Args) => Result {
  return (...args) => {
    if (left-- <= 0) process.kill(process.pid, 'SIGKILL');
    return call(...args);
  };
}

fs.link = killingBefore(fs.link);
fs.rename = killingBefore(fs.rename);
fs.rm = killingBefore(fs.rm);
syncBuiltinESMExports();
