/** A service in the process of the test, and commands that work on it from outside, and on its database. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/foundation/clock.ts';
import { FakeClock } from '../../test-kit/fake-clock.ts';
import { goodPassword, newApp, operator, type TestApp } from '../../test-kit/new-app.ts';
import { Secret } from '../../src/foundation/crypto/secret.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { runInHost, type Environment, type Exit } from './program.ts';

export const email = 'ada@example.com';

export interface Remote extends AsyncDisposable {
  readonly app: TestApp;
  readonly accountId: string;
  readonly folder: string;
  /** Of the commands that work on the service. */
  readonly environment: Environment;
  /** Runs a command on the service, in JSON if the last argument says so. */
  readonly remote: (args: readonly string[], input?: string) => Promise<Exit>;
  /** Runs a command on the database. */
  readonly local: (args: readonly string[]) => Promise<Exit>;
  login(): Promise<void>;
  /** The file with a management key. */
  writeKey(key: string): string;
}

/** An administrator exists. The clock of the service starts at the time of the commands. */
export async function newRemote(environment: Environment = {}): Promise<Remote> {
  const temp = newTempFolder();
  const app = await newApp({ clock: new FakeClock(systemClock.now()), environment });
  const { id: accountId } = await app.service.services.accounts.create(
    operator,
    email,
    new Secret(goodPassword),
    'admin',
  );
  const outside = { XDG_STATE_HOME: join(temp.path, 'state') };
  const run = (args: readonly string[], input?: string): Promise<Exit> =>
    runInHost(args, { folder: temp.path, environment: outside, ...(input === undefined ? {} : { input }) });
  const kit: Remote = {
    app,
    accountId,
    folder: temp.path,
    environment: outside,
    remote: (args, input) => run(['--url', app.url, ...args], input),
    local: (args) => runInHost(args, { folder: temp.path, environment: { ...app.place.environment, ...environment } }),
    async login() {
      const { status, stderr } = await kit.remote(['login', email, '--password-stdin'], goodPassword);
      assert.deepEqual([status, stderr], [0, '']);
    },
    writeKey(key) {
      const path = join(temp.path, 'management-key');
      writeFileSync(path, `${key}\n`, { mode: 0o600 });
      return path;
    },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      temp[Symbol.dispose]();
    },
  };
  return kit;
}

export function assertRefused({ status, stdout, stderr }: Exit, code: number, reason: RegExp): void {
  assert.deepEqual([status, stdout], [code, ''], stderr);
  assert.match(stderr, reason);
}
