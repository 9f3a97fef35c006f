/** Prompts on a terminal: passwords, and the confirmation of changes that cannot be undone. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { suite, test } from 'node:test';
import { basic, goodPassword, newApp } from '../../../test-kit/new-app.ts';
import { newTempFolder, type TempFolder } from '../../../test-kit/temp-folder.ts';
import { databaseIn, environmentFor, keyreeveBin, runProgram } from '../../../test/e2e/program.ts';
import { noTerminal, Terminal } from '../../../test/e2e/terminal.ts';

function type(args: string, folder: TempFolder): Terminal {
  return Terminal.start(`'${process.execPath}' '${keyreeveBin}' ${args}`, folder.path, environmentFor(folder.path));
}

suite('the password prompt', { skip: noTerminal }, () => {
  test('the password is entered twice, is never shown, and signs in', async () => {
    using folder = newTempFolder();
    await using terminal = type('account create you@example.com', folder);
    await terminal.answer('Password: ', `${goodPassword}\r`);
    await terminal.answer('Again: ', `${goodPassword}\r`);
    const { status, stdout } = await terminal.exited();
    assert.equal(status, 0, stdout);
    assert.match(stdout, /Created account you@example\.com \(acc_[0-9A-Za-z]{22}\), user, enabled\.\r\n$/);
    // Only letters: the id of the account can contain the same digits.
    for (const word of goodPassword.match(/[a-z]+/g) ?? []) assert.ok(!stdout.includes(word), stdout);

    const url = `sqlite:${databaseIn(folder.path)}`;
    const environment = { KEYREEVE_DATABASE_URL: url };
    const place = { kind: 'sqlite', url, environment, [Symbol.asyncDispose]: () => Promise.resolve() } as const;
    await using app = await newApp({ place });
    const answer = await app.call('POST', '/auth/token', { headers: basic('you@example.com', goodPassword) });
    assert.equal(answer.status, 200);
  });

  test('two different passwords are rejected, and no database is created', async () => {
    using folder = newTempFolder();
    await using terminal = type('account create you@example.com', folder);
    await terminal.answer('Password: ', `${goodPassword}\r`);
    await terminal.answer('Again: ', `${goodPassword}!\r`);
    const { status, stdout } = await terminal.exited();
    assert.equal(status, 64, stdout);
    assert.match(stdout, /^keyreeve: the two passwords differ\r\n$/m);
    assert.equal(existsSync(databaseIn(folder.path)), false);
  });

  for (const [name, character] of Object.entries({ 'Ctrl-C': '\u0003', 'Ctrl-D': '\u0004' })) {
    test(`${name} at the prompt ends the command, and no database is created`, async () => {
      using folder = newTempFolder();
      await using terminal = type('account create you@example.com', folder);
      await terminal.answer('Password: ', character);
      const { status, stdout } = await terminal.exited();
      assert.equal(status, 64, stdout);
      assert.match(stdout, /^keyreeve: no password was given\r\n$/m);
      assert.equal(existsSync(databaseIn(folder.path)), false);
    });
  }
});

suite('the confirmation', { skip: noTerminal }, () => {
  const question = 'Account you@example.com will be deleted with 0 API keys. This cannot be undone. (yes or no) ';
  const refusals = { no: 'no\r', 'an empty answer': '\r', 'Ctrl-C': '\u0003', 'Ctrl-D': '\u0004' };

  test('only yes deletes the account: no, an empty answer, Ctrl-C and Ctrl-D delete nothing', async () => {
    using folder = newTempFolder();
    const options = { folder: folder.path };
    const created = await runProgram(['account', 'create', 'you@example.com', '--generate'], options);
    assert.equal(created.status, 0, created.stderr);
    const accounts = async (): Promise<unknown[]> =>
      JSON.parse((await runProgram(['account', 'list', '--json'], options)).stdout) as unknown[];
    for (const [name, answer] of Object.entries(refusals)) {
      await using terminal = type('account delete you@example.com', folder);
      await terminal.answer(question, answer);
      const { status, stdout } = await terminal.exited();
      assert.equal(status, 64, `${name}: ${stdout}`);
      assert.match(stdout, /^keyreeve: nothing was changed\r\n$/m, name);
      assert.equal((await accounts()).length, 1, name);
    }
    await using terminal = type('account delete you@example.com', folder);
    await terminal.answer(question, 'yes\r');
    assert.equal((await terminal.exited()).status, 0);
    assert.deepEqual(await accounts(), []);
  });
});
