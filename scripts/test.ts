/** `npm test`: the checks, then every test. The last lines are those of node:test. */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';

/** Most tests wait for processes and sockets, so more of them than processors run at once. */
const filesAtOnce = 4;

const steps: readonly (readonly string[])[] = [
  ['npm', 'run', '--silent', 'check'],
  [process.execPath, '--test', `--test-concurrency=${filesAtOnce}`, ...globSync('packages/*/test/**/*.test.ts')],
];

for (const [command = '', ...args] of steps) {
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
