/**
 * Loaded into a command with `--import`: kills the process at a call of node:fs/promises. KILL_AT names the function, the number
 * of its call, and whether the process ends before or after the call, like `rm 2 after`.
 */
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

type Call = (...args: unknown[]) => Promise<unknown>;

const [name = '', count = '', when = ''] = (process.env['KILL_AT'] ?? '').split(' ');
const functions = fs as unknown as Record<string, Call>;
const call = functions[name];
if (!call) throw new Error(`node:fs/promises has no function “${name}”`);
let calls = 0;
functions[name] = async (...args) => {
  const isLast = ++calls === Number(count);
  if (isLast && when === 'before') process.kill(process.pid, 'SIGKILL');
  const result = await call(...args);
  if (isLast) process.kill(process.pid, 'SIGKILL');
  return result;
};
syncBuiltinESMExports();
