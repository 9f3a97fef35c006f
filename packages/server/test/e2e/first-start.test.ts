/** The first start of the program: the code for the first administrator, in a file and on a terminal, and never in a log. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { newPlace } from '../../test-kit/new-db.ts';
import { until } from '../../test-kit/until.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { databaseIn, environmentFor, goodPassword, keyreeveBin, startProgram, type Environment } from './program.ts';
import { noTerminal, Terminal } from './terminal.ts';

const codeFileIn = (folder: string): string => `${databaseIn(folder)}.first-administrator`;
const codePattern = /krvc_[0-9A-Za-z]{49}/;

async function redeem(url: string, code: string, email = 'root@example.org'): Promise<number> {
  const { status } = await fetch(new URL('/auth/first-administrator', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code, email, password: goodPassword }),
  });
  return status;
}

test('the first start writes one code, which survives a restart and works once', async () => {
  using folder = newTempFolder();
  const path = codeFileIn(folder.path);
  const environment = { KEYREEVE_LOG_LEVEL: 'trace' };
  let code: string;
  {
    await using first = await startProgram(folder.path, environment);
    assert.equal(first.records('listening')[0]?.['firstAdministratorFile'], path);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    code = readFileSync(path, 'utf8').trim();
    const { stdout, stderr } = await first.stop();
    assert.doesNotMatch(stdout + stderr, codePattern);
  }
  await using second = await startProgram(folder.path, environment);
  assert.equal(readFileSync(path, 'utf8'), `${code}\n`);
  assert.equal(await redeem(second.url, code), 201);
  assert.equal(existsSync(path), false);
  assert.equal(await redeem(second.url, code, 'other@example.org'), 400);
  const { stdout, stderr } = await second.stop();
  assert.doesNotMatch(stdout + stderr, codePattern);
  await using third = await startProgram(folder.path, environment);
  assert.equal(third.records('listening')[0]?.['firstAdministratorFile'], undefined);
  assert.equal(existsSync(path), false);
});

suite('on a terminal', { skip: noTerminal }, () => {
  const start = (folder: string, redirection: string, environment: Environment = {}) =>
    Terminal.start(
      `'${process.execPath}' '${keyreeveBin}' serve${redirection}`,
      folder,
      environmentFor(folder, environment),
    );

  test('a link with the code is the last line, requests do not move it, and the code is not logged', async () => {
    using folder = newTempFolder();
    await using terminal = start(folder.path, '');
    const code = await terminal.waitFor('the link', () => codePattern.exec(terminal.stdout)?.[0]);
    assert.equal(readFileSync(codeFileIn(folder.path), 'utf8'), `${code}\n`);
    const [, url = ''] = /\r\n\r\n(http:\/\/localhost:\d+)\/#krvc_\w{49}\r\n$/.exec(terminal.stdout) ?? [];
    const lines = terminal.stdout.split('\r\n');
    assert.match(lines.at(-4) ?? '', /with this link until 20\d\d-.*Z:$/);
    assert.ok((lines.at(-2) ?? '').length <= 80);
    for (const line of lines.filter((text) => text.startsWith('{'))) assert.doesNotMatch(line, codePattern);

    // As the browser that opens the link.
    const page = await fetch(url, { headers: { accept: 'text/html' } });
    assert.deepEqual([page.status, new URL(page.url).pathname], [200, '/console']);
    assert.equal((await fetch(`${url}/auth/account`)).status, 401);
    assert.equal(await redeem(url, code), 201);
    assert.ok(terminal.stdout.endsWith(`${code}\r\n`), terminal.stdout);
    await until('a line of a request', async () => {
      await fetch(`${url}/auth/account`);
      return terminal.stdout.includes('"event":"refused"');
    });
  });

  test('without input from the terminal, as in a container, it shows the path of the file instead of the code', async () => {
    using folder = newTempFolder();
    await using terminal = start(folder.path, ' < /dev/null', { KEYREEVE_LOG_LEVEL: 'trace' });
    await terminal.shows('a start creates another one.\r\n');
    assert.ok(terminal.stdout.includes(`in the file ${codeFileIn(folder.path)}.\r\n`), terminal.stdout);
    assert.doesNotMatch(terminal.stdout, codePattern);
  });

  test('if the output is redirected, the terminal shows the path of the file instead of the code', async () => {
    using folder = newTempFolder();
    await using terminal = start(folder.path, ' > log', { KEYREEVE_LOG_LEVEL: 'trace' });
    await terminal.shows('a start creates another one.\r\n');
    const path = codeFileIn(folder.path);
    assert.match(
      terminal.stdout,
      /Open http:\/\/localhost:\d+\/console and create the first administrator with the code in the file /,
    );
    assert.ok(terminal.stdout.includes(`in the file ${path}.\r\n`));
    assert.doesNotMatch(terminal.stdout, codePattern);
    assert.doesNotMatch(readFileSync(join(folder.path, 'log'), 'utf8'), codePattern);
  });

  test('with an administrator, the terminal shows only the URL of the console', async () => {
    using folder = newTempFolder();
    {
      await using program = await startProgram(folder.path);
      assert.equal(await redeem(program.url, readFileSync(codeFileIn(folder.path), 'utf8').trim()), 201);
    }
    await using terminal = start(folder.path, '');
    await terminal.shows('/console\r\n');
    assert.match(terminal.stdout, /\r\nConsole: http:\/\/localhost:\d+\/console\r\n$/);
    assert.doesNotMatch(terminal.stdout, /code|bootstrap/);
  });

  test('with PostgreSQL, the terminal shows how to create a code', async () => {
    await using place = await newPlace('postgres');
    using folder = newTempFolder();
    await using terminal = start(folder.path, '', place.environment);
    await terminal.shows('--output first-administrator\r\n');
    assert.match(
      terminal.stdout,
      /Console: http:\/\/localhost:\d+\/console\. To create the first administrator there, get a code in another terminal:\r\n {2}npx --no-install keyreeve admin bootstrap --output first-administrator\r\n/,
    );
    assert.doesNotMatch(terminal.stdout, codePattern);
  });
});
