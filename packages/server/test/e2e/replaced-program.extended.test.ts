/**
 * A running service needs no file of its program: after they were removed, or replaced by those of another version, it answers every route,
 * and starts no thread and no process of another version.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, globSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { allRoutes } from '@keyreeve/contract';
import type { CreationOptions } from '@keyreeve/contract';
import { writeProgramFolder, type ProgramPlatform } from '../../../../scripts/program-folder.ts';
import { Mailbox } from '../../test-kit/mailbox.ts';
import { newOpenIdProvider } from '../../test-kit/openid-provider.ts';
import { newKeyPair } from '../../test-kit/public-key-client.ts';
import { SoftwarePasskey } from '../../test-kit/software-passkey.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { basic, bearer, environmentFor, goodPassword, Program, type HttpResponse } from './program.ts';
import { checkout, sharedPackage } from './shared-package.ts';

const email = 'ada@example.com';
const mailFrom = 'Example <accounts@example.com>';

/** What happens to the folder of the running program. */
const changes: Readonly<Record<string, (folder: string) => void>> = {
  removed: (folder) => renameSync(folder, `${folder}-earlier`),
  // A process that loads a file of it, or a page that has its text, fails the test.
  'replaced by another version': (folder) => {
    renameSync(folder, `${folder}-earlier`);
    cpSync(`${folder}-earlier`, folder, { recursive: true });
    const edited = globSync('{dist,console/dist,guides/dist,bin,node_modules/@no*}/**/*.{js,html,css,json}', {
      cwd: folder,
    });
    assert.ok(edited.length > 50);
    for (const path of edited) writeFileSync(join(folder, path), 'throw new Error("another version");');
    writeFileSync(join(folder, 'dist/build-id'), '000000000000');
  },
};

for (const [change, apply] of Object.entries(changes))
  test(`a service whose program was ${change} answers every route`, async () => {
    using temp = newTempFolder();
    await using mailbox = await Mailbox.start();
    await using provider = await newOpenIdProvider();
    const folder = join(temp.path, 'program');
    const platform = { platform: process.platform, arch: process.arch } as ProgramPlatform;
    writeProgramFolder(checkout, folder, platform, (await sharedPackage()).unpacked);
    const environment = environmentFor(temp.path, {
      KEYREEVE_VERIFY_PORT: '0',
      KEYREEVE_THROTTLE: 'off',
      KEYREEVE_SMTP_URL: `smtp://127.0.0.1:${mailbox.port}`,
      KEYREEVE_MAIL_FROM: mailFrom,
      ...provider.environment,
    });
    const start = (...args: readonly string[]): Program =>
      new Program(spawn(join(folder, 'bin/keyreeve'), args, { cwd: temp.path, env: environment }), temp.path);
    const created = start('account', 'create', email, '--admin', '--password-stdin');
    created.child.stdin?.end(goodPassword);
    assert.equal((await created.exited()).status, 0, created.stderr);
    await using program = start('serve');
    const { verifyUrl } = await program.waitForRecord('listening');
    apply(folder);

    const expect = async (status: number, ...request: Parameters<Program['call']>): Promise<HttpResponse> => {
      const response = await program.call(...request);
      assert.equal(response.status, status, `${request[0]} ${request[1]}: ${response.text}`);
      return response;
    };
    // More than the hashing threads at the start.
    const signIn = () => expect(200, 'POST', '/auth/token', basic(email, goodPassword));
    const [signedIn] = await Promise.all([signIn(), signIn(), signIn(), signIn(), signIn(), signIn()]);
    const { accessToken } = signedIn.json as { accessToken: string };
    const account = bearer(accessToken);

    const { key } = await program.createKey(accessToken);
    await expect(200, 'GET', '/auth/forward', bearer(key));
    const verified = await fetch(new URL('/auth/forward', String(verifyUrl)), { headers: bearer(key) });
    assert.equal(verified.status, 200);
    const { publicKey } = newKeyPair('EdDSA');
    await expect(201, 'POST', '/auth/api-keys/public', account, { nickname: 'public', publicKey });
    const common = { currentPassword: goodPassword, newPassword: 'passwordpassword' };
    assert.match((await program.call('PUT', '/auth/account/password', account, common)).text, /common/);
    const passkey = new SoftwarePasskey(`http://localhost:${new URL(program.url).port}`);
    const { json: options } = await expect(200, 'POST', '/auth/passkeys/options', account);
    const response = passkey.create(options as CreationOptions);
    await expect(201, 'POST', '/auth/passkeys', account, { name: 'laptop', response });
    await expect(202, 'POST', '/auth/password-resets', {}, { email });
    assert.match((await mailbox.next({ to: email, subject: /password/i })).text, /reset-password/);
    const fromConsole = { 'x-keyreeve-console': 'user', 'sec-fetch-site': 'same-origin' };
    const { json: sso } = await expect(200, 'POST', '/console/sso/start', fromConsole, {});
    assert.match((sso as { location: string }).location, new RegExp(`^${provider.issuer}/`));
    const metrics = await (await fetch(new URL('/metrics', program.adminUrl))).text();
    assert.match(metrics, /^keyreeve_build_info\{.*build="[0-9a-f]{12}"/m);

    // Each page, and each file that it loads.
    for (const page of ['/console/', '/docs', '/docs/tutorials/express', '/docs/api', '/account/reset-password']) {
      const { text } = await expect(200, 'GET', page, { accept: 'text/html' });
      assert.doesNotMatch(text, /another version/);
      for (const [, path = ''] of text.matchAll(/(?:src|href)="([^":#]+\.(?:js|css|svg))"/g)) {
        const file = new URL(path, new URL(page, program.url));
        const { text: content } = await expect(200, 'GET', file.pathname);
        assert.doesNotMatch(content, /another version/);
      }
    }
    // Whatever else a route loads, before or after it rejects the request.
    for (const { method, path } of allRoutes) {
      const { status, text } = await program.call(
        method,
        path.replaceAll(/\{\w+\}|:\w+/g, '1'),
        { ...account, ...fromConsole },
        method === 'GET' || method === 'DELETE' ? undefined : {},
      );
      assert.ok(status < 500, `${method} ${path}: ${status} ${text}`);
    }

    // No process of another version takes the place of a verifier that has ended.
    const listening = program.records('verifier_listening');
    for (const { verifierPid } of listening) process.kill(Number(verifierPid), 'SIGKILL');
    const refused = await program.waitFor('a refused verifier', () =>
      program.records('verifier_ended').find(({ err }) => err !== undefined),
    );
    assert.match(
      JSON.stringify(refused['err']),
      /another version of the program has replaced app\/processes\/verifier/,
    );
    await expect(200, 'GET', '/auth/forward', bearer(key));
    const { status, stderr } = await program.stop();
    assert.equal(status, 0, stderr);
    assert.deepEqual(program.records('verifier_listening'), listening);
    const failures = program.records().filter(({ level, event }) => level === 'error' && event !== 'verifier_ended');
    assert.deepEqual(failures, []);
  });
