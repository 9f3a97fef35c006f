/** The output of `keyreeve restore` after it has removed rights again, and `keyreeve account confirm-email`. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test as testOnEach } from '../../test-kit/app-on-each-database.ts';
import { codeIn, Mailbox } from '../../test-kit/mailbox.ts';
import { newPlace } from '../../test-kit/new-db.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { codeAt } from '../../test-kit/authenticator.ts';
import { basic, bearer, goodPassword, runProgram, startProgram, type Environment, type Program } from './program.ts';

/** @returns the recovery codes */
async function enrol(program: Program, accessToken: string): Promise<readonly string[]> {
  const path = '/auth/account/second-factor';
  const body = { currentPassword: goodPassword };
  const { secret } = (await program.call('POST', path, bearer(accessToken), body)).json as { secret: string };
  const code = codeAt(secret, Date.now());
  const confirmed = await program.call('POST', `${path}/confirm`, bearer(accessToken), { code });
  assert.equal(confirmed.status, 200, confirmed.text);
  return (confirmed.json as { recoveryCodes: string[] }).recoveryCodes;
}

async function signIn(program: Program, email: string, more: Environment = {}): Promise<string> {
  const response = await program.call('POST', '/auth/token', { ...basic(email, goodPassword), ...more });
  assert.equal(response.status, 200, response.text);
  return (response.json as { accessToken: string }).accessToken;
}

async function changeEmail(program: Program, mailbox: Mailbox, from: string, to: string): Promise<void> {
  const accessToken = await signIn(program, from);
  const change = { email: to, currentPassword: goodPassword };
  assert.equal((await program.call('PUT', '/auth/account/email', bearer(accessToken), change)).status, 202);
  const code = codeIn(await mailbox.next({ to, subject: 'Confirm your new email' }));
  const confirmed = await program.call('POST', '/auth/account/email/confirm', {}, { code, password: goodPassword });
  assert.equal(confirmed.status, 200, confirmed.text);
}

testOnEach(
  'a restore prints the removed rights and the email addresses to confirm, and an operator confirms one',
  async () => {
    using folder = newTempFolder();
    await using place = await newPlace();
    await using mailbox = await Mailbox.start();
    const environment: Environment = {
      KEYREEVE_PUBLIC_URL: 'http://localhost:8787',
      KEYREEVE_MASTER_KEY: Buffer.alloc(32, 3).toString('base64url'),
      ...place.environment,
      ...mailbox.environment,
      KEYREEVE_DELETION_JOURNAL: join(folder.path, 'journal'),
    };
    const run = async (line: string, input = '') => {
      const { status, stdout, stderr } = await runProgram(line.split(' '), {
        folder: folder.path,
        environment,
        input,
      });
      return { status, stdout, stderr };
    };
    await using program = await startProgram(folder.path, environment);
    const idOf = async (email: string): Promise<string> =>
      (JSON.parse((await run(`account show ${email} --json`)).stdout) as { id: string }).id;
    for (const name of ['role', 'password', 'email', 'factor', 'code', 'required'])
      await program.signIn(`${name}@example.com`);
    const narrowed = await program.newKey();
    await run('account set-role role@example.com admin');
    await enrol(program, await signIn(program, 'factor@example.com'));
    const [used = ''] = await enrol(program, await signIn(program, 'code@example.com'));
    const endpoints: string[] = [];
    for (const path of ['disabled', 'deleted']) {
      const created = await run(`webhook create https://hooks.invalid/${path} --event account.created --json`);
      endpoints.push((JSON.parse(created.stdout) as { id: string }).id);
    }
    assert.equal((await run('backup --to old.gz')).status, 0);

    await run('account set-role role@example.com user');
    await run('account set-password password@example.com --password-stdin', 'another wombat orbit 42\n');
    await run('account remove-second-factor factor@example.com');
    await run('account require-second-factor required@example.com');
    const disabling = { disabled: true };
    const path = `/auth/api-keys/${narrowed.id}`;
    assert.equal((await program.call('PATCH', path, bearer(narrowed.accessToken), disabling)).status, 200);
    assert.equal((await run(`webhook disable ${endpoints[0]}`)).status, 0);
    assert.equal((await run(`webhook delete ${endpoints[1]}`)).status, 0);
    await changeEmail(program, mailbox, 'email@example.com', 'new@example.com');
    await signIn(program, 'code@example.com', { 'x-keyreeve-otp': used });
    assert.equal((await program.stop()).status, 0);

    const id = await idOf('new@example.com');
    const { status, stdout, stderr } = await run('restore --from old.gz --replace --yes');
    assert.deepEqual([status, stderr], [0, '']);
    const [, summary = ''] = stdout.split('\n\n');
    assert.deepEqual(
      summary
        .trimEnd()
        .replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, '<TIME>')
        .split('\n'),
      [
        'Restored the backup of <TIME>. Replayed the deletion journal: 0 keys and 0 accounts deleted again, 0 accounts disabled again, 0 signing keys revoked again.',
        'Removed again: 1 administrator role, 1 second factor, 1 used recovery code, 1 webhook endpoint.',
        'Keys disabled, because they were disabled, restricted or rotated later: 1. Their owners can enable them; only an administrator can enable a key that an administrator disabled. If a secret was replaced, the owner must first rotate the key with `overlapSeconds` 0.',
        'Disabled again: 1 webhook endpoint.',
        'A second factor is required again of 1 account.',
        'Earlier passwords made invalid: 1. Their owners set new ones with “forgot password”, or you run `keyreeve account set-password`.',
        'Accounts with an earlier email address: 1. Password resets are not sent to it until the owner changes it, or until you have asked the owner and run `keyreeve account confirm-email <id>`:',
        `  ${id}`,
        'The deletion journal is complete until <TIME>. It lacks later deletions of instances whose journals were not named.',
        'Additions since the backup are lost: accounts, keys, new passwords, new email addresses and new second factors.',
        'All sessions have ended.',
      ],
    );

    const unconfirmed = async (): Promise<readonly { state: string; detail: string }[]> => {
      const { checks } = JSON.parse((await run('doctor --json')).stdout) as {
        checks: { name: string; state: string; detail: string }[];
      };
      return checks.filter(({ name }) => name === 'email addresses').map(({ state, detail }) => ({ state, detail }));
    };
    assert.deepEqual(await unconfirmed(), [
      {
        state: 'warning',
        detail: `after a restore, these accounts have an earlier email address: ${id}. Password resets are not sent to it until the owner changes it or you run \`keyreeve account confirm-email\``,
      },
    ]);
    const done = await run(`account confirm-email ${id}`);
    assert.deepEqual(done, {
      status: 0,
      stdout: `Confirmed the email address of account email@example.com (${id}), user, enabled.\n`,
      stderr: '',
    });
    assert.equal((await run(`account confirm-email ${id}`)).status, 0, 'a second confirmation changes nothing');
    assert.deepEqual(await run('account confirm-email unknown@example.com'), {
      status: 1,
      stdout: '',
      stderr: 'keyreeve: There is no account unknown@example.com.\n',
    });
    assert.deepEqual(await unconfirmed(), []);
    await using second = await startProgram(folder.path, environment);
    const reset = { email: 'email@example.com' };
    assert.equal((await second.call('POST', '/auth/password-resets', {}, reset)).status, 202);
    codeIn(await mailbox.next({ to: 'email@example.com', subject: 'Set a new password' }));
  },
);
