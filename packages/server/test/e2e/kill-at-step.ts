/**
 * Preloaded into a command (`NODE_OPTIONS=--import`). It counts the calls that give a file a name or remove one, from 0, and kills
 * the process before call TEST_KILL_AT. A commit of the database is between two of these calls.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

let left = Number(process.env['TEST_KILL_AT']);

function killingBefore<Args extends unknown[], Result>(call: (...args: Args) => Result): (...args: Args) => Result {
  return (...args) => {
    if (left-- <= 0) process.kill(process.pid, 'SIGKILL');
    return call(...args);
  };
}

fs.linkSync = killingBefore(fs.linkSync);
fs.renameSync = killingBefore(fs.renameSync);
fs.rmSync = killingBefore(fs.rmSync);
syncBuiltinESMExports();
