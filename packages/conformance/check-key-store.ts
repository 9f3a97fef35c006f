/**
 * The example of a command line, which each library has, keeps the key in the key store of the system: here the Secret Service of GNOME,
 * on a D-Bus of its own.
 */
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { newDeviceClient } from '../server/test-kit/device-client.ts';
import { newTempFolder } from '../server/test-kit/temp-folder.ts';
import { until } from '../server/test-kit/until.ts';
import { codeOf, commandLine } from './check-command-line.ts';
import type { Command } from './library-program.ts';

const execute = promisify(execFile);
const programs = ['dbus-daemon', 'gnome-keyring-daemon', 'secret-tool'];
const missing = programs.filter((program) => spawnSync(program, ['--version']).error !== undefined);

/** Why the test is skipped. Under CI it runs, and fails without the programs. */
export const skipKeyStore: string | false =
  process.env['CI'] !== 'true' && missing.length > 0 && `not tried: ${missing.join(' and ')} not installed`;

/** Starts no service by itself, such as another key store, which would be locked. */
const busConfiguration = (
  folder: string,
): string => `<busconfig><type>session</type><listen>unix:path=${folder}/bus</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>`;

interface KeyStore extends AsyncDisposable {
  readonly environment: Readonly<Record<string, string>>;
  /** What `secret-tool` finds. */
  readonly contents: () => Promise<string>;
}

/** @param folder the home of the user */
async function startKeyStore(folder: string): Promise<KeyStore> {
  await using started = new AsyncDisposableStack();
  const address = `unix:path=${folder}/bus`;
  const environment = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, XDG_RUNTIME_DIR: folder };
  const env = { ...process.env, ...environment, DBUS_SESSION_BUS_ADDRESS: address };
  const start = (command: string, args: readonly string[]): ChildProcess => {
    const child = spawn(command, args, { env, stdio: ['pipe', 'ignore', 'ignore'] });
    started.defer(() => stop(child));
    return child;
  };
  const configuration = join(folder, 'bus.conf');
  writeFileSync(configuration, busConfiguration(folder));
  start('dbus-daemon', [`--config-file=${configuration}`, '--nofork']);
  await until('the bus listens', () => existsSync(join(folder, 'bus')));
  start('gnome-keyring-daemon', ['--foreground', '--unlock', '--components=secrets']).stdin?.end('password');
  const contents = async (): Promise<string> =>
    (await execute('secret-tool', ['search', '--all', 'service', 'acme-cli'], { env })).stdout;
  await until('the key store responds', () =>
    contents().then(
      () => true,
      () => false,
    ),
  );
  const parts = started.move();
  return {
    environment: { ...environment, DBUS_SESSION_BUS_ADDRESS: address },
    contents,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
}

export async function checkKeyStore(command: Command): Promise<void> {
  using folder = newTempFolder();
  await using keyStore = await startKeyStore(folder.path);
  await using at = await newDeviceClient();
  const acme = commandLine(command, { KEYREEVE_URL: at.app.url, ...keyStore.environment });
  const ended = async (name: string): Promise<[status: number | null, text: string]> => {
    const run = acme(name);
    return [await run.status, run.output() + run.errors()];
  };
  const notSignedIn = [1, 'acme: you are not signed in: run `acme login`\n'];

  assert.deepEqual(await ended('whoami'), notSignedIn);
  const login = acme('login');
  await at.approve(await codeOf(login), { nickname: 'laptop', scopes: ['orders:read'] });
  assert.equal(await login.status, 0, login.errors());
  assert.match(await keyStore.contents(), /^secret = .*krv_/m);
  assert.equal(existsSync(join(folder.path, 'acme')), false, 'no file has the key');
  assert.deepEqual(await ended('whoami'), [0, 'laptop: orders:read\n']);
  assert.equal((await ended('logout'))[0], 0);
  assert.equal(await keyStore.contents(), '');
  assert.deepEqual(await ended('whoami'), notSignedIn);
}
