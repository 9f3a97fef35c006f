/** The tutorial about a login command works as it stands in an empty folder, with a person who approves. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Approval } from '@keyreeve/contract';
import { until } from '../../server/test-kit/until.ts';
import { outputsOf, placedIn, readPage, root, shellBlocks } from '../../server/test/docs/shell-blocks.ts';
import { bearer, newProgram, type Program } from '../../server/test/e2e/program.ts';
import { TutorialFolder } from './tutorial.ts';

const page = readPage('docs/tutorials/command-line.md');
const [, shown = ''] = /^ *```js\n([^]*?)^ *```$/m.exec(page) ?? [];
const script = shown.replaceAll(/^ {3}/gm, '');

test('the tutorial about a login command shows the tested example', () => {
  assert.equal(script, readFileSync(join(root, 'packages/client/examples/acme/acme.js'), 'utf8'));
});

test('the tutorial about a login command works as it stands, and prints what it shows', async () => {
  await using folder = await TutorialFolder.create();
  folder.addArchive();
  const [printed, token, keyFile] = ['printed', 'token', 'key.json'].map((name) => join(folder.path, name));
  writeFileSync(join(folder.path, 'acme.js'), script);
  const variables = `${folder.exports}export KEYREEVE='${root}' ACME_KEY_FILE='${keyFile}'\n`;
  const [declare = '', install = '', login = '', ...others] = shellBlocks(page).map((block) =>
    placedIn(folder.path, block),
  );
  const signIn = `printf '%s' "$ACCESS_TOKEN" > '${token}'\n${login.replace('login\n', `login 2> '${printed}'\n`)}`;
  await using program = await newProgram();
  const blocks = [variables + declare, `${install}cp ../acme.js .\n`, signIn, ...others];
  const [outputs] = await Promise.all([outputsOf(blocks, program), approve(program, printed ?? '', token ?? '')]);
  assert.match(outputs[0] ?? '', /^Added the program acme-cli/);
  assert.match(outputs[2] ?? '', /^Signed in until .* with the key “Acme CLI”\n$/);
  const [whoami = '', logout = ''] = outputs.slice(3);
  const [first = '', second = ''] = others.map((block) => /^ *# (.*)$/m.exec(block)?.[1] ?? '');
  assert.deepEqual([whoami.trim(), logout.trim()], [first, second]);
  assert.equal(existsSync(keyFile ?? ''), false);
});

/** @param printed the file with the code @param token that with the access token of the person */
async function approve(program: Program, printed: string, token: string): Promise<void> {
  const form = /\n {2}([B-Z]{4}-[B-Z]{4})\n/;
  await until('acme has printed the code', () => existsSync(printed) && form.test(readFileSync(printed, 'utf8')));
  const [, code = ''] = form.exec(readFileSync(printed, 'utf8')) ?? [];
  const headers = bearer(readFileSync(token, 'utf8'));
  const { id } = (await program.call('POST', '/auth/approvals/lookup', headers, { code })).json as Approval;
  const { status, text } = await program.call('POST', `/auth/approvals/${id}/approve`, headers, { code });
  assert.equal(status, 200, text);
}
