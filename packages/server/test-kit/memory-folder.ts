/**
 * A folder in memory for the databases and files of tests. On a disk, every commit of a test waits for the disk, which others
 * use at the same time. What tests check of commits does not depend on it: a killed process loses nothing that it wrote.
 */
import { readFileSync, statfsSync } from 'node:fs';

const path = '/dev/shm';
/** Several times what the tests of both lanes keep at once. In a container, the folder often has 64 MiB. */
const bytesMin = 4 * 2 ** 30;

/** @returns undefined where there is no such folder, where it is small, or where it holds no programs */
export function memoryFolder(): string | undefined {
  try {
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, mountedAt]) => mountedAt === path);
    const [, , type, options = ''] = mount ?? [];
    if (type !== 'tmpfs' || options.split(',').includes('noexec')) return undefined;
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize >= bytesMin ? path : undefined;
  } catch {
    return undefined;
  }
}
