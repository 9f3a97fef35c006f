/** How many connections a process may have open. */
import { readFileSync } from 'node:fs';
import { limits } from '@keyreeve/contract';

/** For the database, files, the admin listener, mail and webhooks. */
const otherFiles = 512;
/** A process that may open so few files still serves some clients. */
const connectionsFloor = 64;

/**
 * At the limit of open files of the process, the kernel refuses connections before the server could close an idle one. So the
 * server has fewer than that.
 * @param limitsOfProcess the content of `/proc/self/limits`
 */
export function connectionsMaxOf(limitsOfProcess: string): number {
  const line = limitsOfProcess.split('\n').find((text) => text.startsWith('Max open files')) ?? '';
  // The soft limit, which Node raises to the hard one at its start.
  const [soft = ''] = line.slice('Max open files'.length).trim().split(' ');
  const files = /^\d+$/.test(soft) ? Number(soft) : Infinity;
  return Math.min(limits.connectionsMax, Math.max(connectionsFloor, files - otherFiles));
}

/** Of this process. Systems other than Linux have no such file. */
export function connectionsMaxOfProcess(): number {
  try {
    return connectionsMaxOf(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    return limits.connectionsMax;
  }
}
