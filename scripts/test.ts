/** `npm test`: the checks, then every test beside one PostgreSQL server. The last lines are those of node:test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { PostgresServer } from '../packages/server/src/testing/postgres-server.ts';

/** Most tests wait for processes and sockets, so more of them than processors run at once. */
const filesAtOnce = 4;

/** A signal is passed on, so that what was started ends first. */
async function run(command: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...environment } });
  const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGINT', passOn).on('SIGTERM', passOn);
  try {
    const [status] = (await once(child, 'exit')) as [number | null];
    return status ?? 1;
  } finally {
    process.off('SIGINT', passOn).off('SIGTERM', passOn);
  }
}

async function runTests(): Promise<number> {
  await using server = await PostgresServer.start();
  const args = ['--test', `--test-concurrency=${filesAtOnce}`, ...globSync('packages/*/test/**/*.test.ts')];
  return await run(process.execPath, args, { TEST_POSTGRES_URL: server.url() });
}

try {
  process.exitCode = (await run('npm', ['run', '--silent', 'check'])) || (await runTests());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
