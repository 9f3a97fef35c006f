/** What commands tell operators about passkeys. */
import assert from 'node:assert/strict';
import { test } from '../../../test-kit/app-on-each-database.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { newApp } from '../../../test-kit/new-app.ts';
import { addPasskey } from '../../../test-kit/passkeys.ts';
import { runProgram } from '../../../test/e2e/program.ts';

test('an operator lists passkeys, and doctor warns about those that another public URL would reject', async () => {
  await using app = await newApp();
  const user = await app.signIn('ada@example.com');
  const { passkey } = await addPasskey(app, user);
  using folder = newTempFolder();
  const run = (args: readonly string[], publicUrl: string) =>
    runProgram(args, {
      folder: folder.path,
      environment: { ...app.place.environment, KEYREEVE_PUBLIC_URL: publicUrl },
    });
  const list = ['account', 'passkeys', 'ada@example.com'];
  const same = await run([...list, '--json'], 'http://localhost:8787');
  assert.deepEqual([same.status, JSON.parse(same.stdout)], [0, [passkey]]);
  const moved = await run([...list, '--json'], 'https://auth.example.com');
  assert.deepEqual(JSON.parse(moved.stdout), [{ ...passkey, usable: false }]);
  const table = await run(list, 'https://auth.example.com');
  assert.match(
    table.stdout,
    /^ID +NAME +CREATED +LAST USED +STATE\npas_\w{22} +laptop .* never +other relying party id\n1 passkey\n$/,
  );

  const warning =
    /^passkeys +warning +1 passkey cannot sign in: created for another relying party id than auth\.example\.com\. /m;
  assert.doesNotMatch((await run(['doctor'], 'http://localhost:8787')).stdout, /^passkeys/m);
  assert.match((await run(['doctor'], 'https://auth.example.com')).stdout, warning);
});
