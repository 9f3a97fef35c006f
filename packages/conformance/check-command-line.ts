/**
 * The example of a command line, which each library has: `acme login`, `acme whoami` and `acme logout` with a real service, and where it
 * keeps the key.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newDeviceClient, type DeviceClient } from '../server/test-kit/device-client.ts';
import { freePort } from '../server/test-kit/free-port.ts';
import { newTempFolder } from '../server/test-kit/temp-folder.ts';
import { until } from '../server/test-kit/until.ts';
import type { Command } from './library-program.ts';

interface Run {
  readonly output: () => string;
  readonly errors: () => string;
  readonly status: Promise<number | null>;
}

export interface CommandLineOptions {
  /** Whether the example draws a QR code. */
  readonly hasQrCode: boolean;
}

/** @param variables of the environment @returns starts a command of the example, such as `login` */
export const commandLine =
  ({ command, args, env = {}, cwd }: Command, variables: Readonly<Record<string, string>>) =>
  (name: string): Run => {
    const environment = { ...process.env, NO_PROXY: '*', ...env, ...variables };
    const child = spawn(command, [...args, name], { env: environment, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (text) => (output += text));
    child.stderr.on('data', (text) => (errors += text));
    const status = once(child, 'close').then(([code]) => code as number | null);
    return { output: () => output, errors: () => errors, status };
  };

export async function checkCommandLine(command: Command, { hasQrCode }: CommandLineOptions): Promise<void> {
  using folder = newTempFolder();
  await using at = await newDeviceClient();
  const file = join(folder.path, 'new', 'key.json');
  const acme = (name: string, url = at.app.url): Run =>
    commandLine(command, { KEYREEVE_URL: url, ACME_KEY_FILE: file })(name);
  const ended = async (name: string, url?: string): Promise<[status: number | null, text: string]> => {
    const run = acme(name, url);
    return [await run.status, run.output() + run.errors()];
  };

  assert.deepEqual(await ended('whoami'), [1, 'acme: you are not signed in: run `acme login`\n']);
  const denied = acme('login');
  await deny(at, await codeOf(denied));
  assert.equal(await denied.status, 1);
  assert.match(denied.errors(), /\nacme: .*denied/);
  assert.equal(existsSync(file), false);

  const login = acme('login');
  const code = await codeOf(login);
  assert.ok(login.errors().includes(`/console/device#${code}\n`), login.errors());
  assert.equal(login.errors().includes('\u001B['), hasQrCode);
  await at.approve(code, { nickname: 'läptop', scopes: ['orders:read'] });
  assert.equal(await login.status, 0, login.errors());
  assert.match(login.output(), /^Signed in until 20\d\d-.* with the key “läptop”\n$/);
  assert.doesNotMatch(login.output() + login.errors(), /krv_/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.match(readFileSync(file, 'utf8'), /"krv_/);

  assert.deepEqual(await ended('whoami'), [0, 'läptop: orders:read\n']);
  const kept = readFileSync(file, 'utf8');
  const [key = ''] = /krv_[0-9A-Za-z]+/.exec(kept) ?? [];
  const restore = (): void => writeFileSync(file, kept, { mode: 0o600 });
  const unreachable = `http://127.0.0.1:${await freePort()}`;
  const [status, text] = await ended('logout', unreachable);
  const held = `The key “läptop” \\(\\d+\\) may still be valid: delete it at ${unreachable}/console`;
  assert.match(text, new RegExp(`^acme: signed out only here \\(.+\\)\\. ${held}\n$`));
  assert.deepEqual([status, existsSync(file), await at.isAccepted(key)], [1, false, true]);

  restore();
  assert.deepEqual(await ended('logout'), [0, 'Signed out. The key “läptop” has been deleted\n']);
  assert.deepEqual([existsSync(file), await at.isAccepted(key)], [false, false]);

  restore();
  assert.deepEqual(await ended('whoami'), [1, 'acme: the key is not accepted: run `acme login`\n']);
  assert.equal((await ended('logout'))[0], 0);
  assert.equal(existsSync(file), false);
}

export async function codeOf(login: Run): Promise<string> {
  const printed = /\n {2}([B-Z]{4}-[B-Z]{4})\n/;
  await until('acme has printed the code', () => printed.test(login.errors()));
  return printed.exec(login.errors())?.[1] ?? '';
}

async function deny(at: DeviceClient, code: string): Promise<void> {
  const { id } = await at.lookUp(code);
  const { status, text } = await at.send(`${id}/deny`, { code });
  assert.equal(status, 200, text);
}
