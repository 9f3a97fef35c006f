/**
 * From a new installation to the first verification: an administrator creates a service key with one button, copies an example, and
 * sees that the first verification has arrived. The examples are those of the documentation.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test as nodeTest } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { builds } from '../../server/bin/build-stamp.js';
import { Secret } from '../../server/src/foundation/crypto/secret.ts';
import { goodPassword, operator } from '../../server/test-kit/new-app.ts';
import { exampleFiles } from '../examples.ts';
import { assertAccessible } from './accessibility.ts';
import { consoleTests, signInByCookie, type ConsoleSite } from './kit/console-site.ts';
import { Keyboard } from './kit/keyboard.ts';
import { placesWith } from './kit/traces.ts';
import type { Visitor } from './kit/visitor.ts';

const test = consoleTests();
const repository = join(import.meta.dirname, '../../..');
const documented = (path: string): string => readFileSync(join(repository, path), 'utf8');

/** An administrator at a page of an installation whose keys nothing has verified. */
async function openAsAdministrator(site: ConsoleSite, path: string): Promise<Visitor> {
  const email = `root.${crypto.randomUUID().slice(0, 8)}@example.com`;
  await site.app.service.services.accounts.create(operator, email, new Secret(goodPassword), 'admin');
  const visitor = await site.open({ hasClock: true });
  await signInByCookie(visitor.context, email);
  await visitor.goto(path);
  return visitor;
}

const cardOf = (page: Page) => page.getByRole('region', { name: 'Protect your API' });

/** Without the proxies of this machine. @returns the output of a command of a shell */
const run = async (command: string, environment: Readonly<Record<string, string>> = {}): Promise<string> =>
  (await promisify(execFile)('sh', ['-c', command], { env: { PATH: process.env['PATH'], ...environment } })).stdout;

/** @returns the example, as the page shows it */
async function choose(page: Page, name: string): Promise<string> {
  await cardOf(page).getByRole('radio', { name, exact: true }).check();
  return (
    (await cardOf(page)
      .getByRole('group', { name: `Example for ${name}`, exact: true })
      .textContent()) ?? ''
  );
}

test(
  'an administrator gets to the first verification by keyboard, and the key is only in the dialog that shows it',
  async (site) => {
    const visitor = await openAsAdministrator(site, '/console/keys');
    const { page } = visitor;
    const keyboard = new Keyboard(page);
    assert.equal(
      await cardOf(page).getByRole('button', { name: 'Create service key' }).count(),
      0,
      'a proxy needs none',
    );
    await keyboard.moveTo(cardOf(page).getByRole('radio', { name: 'nginx' }));
    for (const name of ['Caddy', 'Express']) {
      await page.keyboard.press('ArrowRight');
      await cardOf(page).getByRole('radio', { name, checked: true }).waitFor();
    }
    await keyboard.moveTo(cardOf(page).getByRole('button', { name: 'Create service key' }));
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Your new API key' });
    const secret = await dialog.getByLabel('Secret', { exact: true }).inputValue();
    assert.equal(
      await dialog.getByLabel('Environment variable', { exact: true }).inputValue(),
      `KEYREEVE_SERVICE_KEY=${secret}`,
    );
    const command = await dialog.getByLabel('Test command', { exact: true }).inputValue();
    await assertAccessible(page, 'the dialog of the service key');
    await keyboard.moveTo(dialog.getByLabel('I have stored it'));
    await page.keyboard.press('Space');
    await keyboard.moveTo(dialog.getByRole('button', { name: 'Close', exact: true }));
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual(await placesWith(page, secret.slice(4, 24)), []);
    await cardOf(page).getByText('Waiting for the first verification…').waitFor();

    // As a person pastes it into a terminal.
    assert.equal((JSON.parse(await run(command)) as { nickname: string }).nickname, 'service');
    await site.app.service.services.uses.flush();
    await page.clock.runFor(5_000);
    await cardOf(page).getByText('The first verification has arrived.').waitFor();
    for (const name of ['Invite people', 'Send a test mail']) await cardOf(page).getByRole('link', { name }).waitFor();
    await assertAccessible(page, 'the card after the first verification');

    await page.reload();
    await cardOf(page).getByRole('heading', { name: 'Next steps' }).waitFor();
    await keyboard.moveTo(cardOf(page).getByRole('button', { name: 'Close this card' }));
    await page.keyboard.press('Enter');
    await cardOf(page).waitFor({ state: 'detached' });
    await visitor.goto('/console/admin/overview');
    await page.getByRole('heading', { name: 'Newest events' }).waitFor();
    assert.equal(await cardOf(page).count(), 0, 'a closed card stays closed');
    const other = await openAsAdministrator(site, '/console/admin/overview');
    await other.page.getByRole('heading', { name: 'Newest events' }).waitFor();
    assert.equal(await cardOf(other.page).count(), 0, 'a browser that has not shown the card does not need it');
  },
  { isAlone: true },
);

test('the examples are those of the documentation, with the addresses of the installation', async (site) => {
  const visitor = await openAsAdministrator(site, '/console/account');
  const { page } = visitor;
  const { publicUrl } = site.app.service;
  // Of an installation with a listener that only verifies.
  await page.route('**/console/api/admin/settings', async (route) => {
    const response = await route.fetch();
    const found = (await response.json()) as { settings: { name: string }[] };
    const own: Readonly<Record<string, string>> = { KEYREEVE_VERIFY_HOST: '10.0.0.7', KEYREEVE_VERIFY_PORT: '8790' };
    const settings = found.settings.map((one) => ({ ...one, ...(own[one.name] && { value: own[one.name] }) }));
    await route.fulfill({ response, json: { ...found, settings } });
  });
  await visitor.goto('/console/keys');
  await cardOf(page).getByText('The proxy reaches Keyreeve at 10.0.0.7:8790').waitFor();
  for (const [name, file] of [
    ['nginx', exampleFiles.nginx],
    ['Caddy', exampleFiles.caddy],
  ] as const)
    assert.equal(
      await choose(page, name),
      documented(file)
        .replaceAll('127.0.0.1:8787', '10.0.0.7:8790')
        .replace('../forward-auth.md', `${publicUrl}/docs/forward-auth`),
    );
  for (const [name, file, url] of [
    ['Express', exampleFiles.express, `'${publicUrl}'`],
    ['FastAPI', exampleFiles.fastapi, `"${publicUrl}"`],
    ['Go', exampleFiles.go, `"${publicUrl}"`],
  ] as const) {
    const shown = await choose(page, name);
    assert.ok(shown.includes(url) && shown.includes('KEYREEVE_SERVICE_KEY'), shown);
    for (const line of shown.split('\n').filter((one) => !one.includes(url)))
      assert.ok(documented(file).includes(line), `${file} has ${line}`);
  }
  const { id } = await site.app.createAccount();
  const create = async (nickname: string, scopes: readonly string[]): Promise<string> =>
    (await site.app.service.services.apiKeys.create(operator, id, { nickname, scopes })).secret.reveal();
  const environment = {
    KEYREEVE_SERVICE_KEY: await create('service', ['keyreeve:verify']),
    API_KEY: await create('worker', []),
  };
  assert.equal((JSON.parse(await run(await choose(page, 'curl'), environment)) as { valid: boolean }).valid, true);
});

test(
  'a second service key gets another nickname, and only administrators see the card',
  async (site) => {
    const { page } = await openAsAdministrator(site, '/console/admin/overview');
    await choose(page, 'Go');
    for (const nickname of ['service', 'service 2']) {
      const created = page.waitForResponse((response) => response.status() === 201);
      await cardOf(page).getByRole('button', { name: 'Create service key' }).click();
      assert.equal(((await (await created).json()) as { nickname: string }).nickname, nickname);
      await page.getByLabel('I have stored it').check();
      await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).click();
    }
    const other = await site.openSignedIn();
    await other.goto('/console/keys');
    assert.equal(await cardOf(other.page).count(), 0);
    assert.ok(!other.requests.some((request) => request.includes('/admin/')), other.requests.join('\n'));
  },
  { isAlone: true, databases: ['sqlite'] },
);

/** @returns the test commands of the dialog of a new key, and of the page of the key */
async function commandsOf({ page }: Visitor): Promise<readonly (string | undefined)[]> {
  await page.getByRole('button', { name: 'Create key' }).first().click();
  await page.getByLabel('Nickname').fill('worker');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  const secret = await dialog.getByLabel('Secret', { exact: true }).inputValue();
  const fields = await dialog.getByLabel('Test command', { exact: true }).all();
  const inDialog = (await fields[0]?.inputValue())?.replaceAll(secret, 'SECRET');
  await page.getByLabel('I have stored it').check();
  await dialog.getByRole('button', { name: 'Close', exact: true }).click();
  await page.getByRole('link', { name: 'worker' }).click();
  await page.getByRole('heading', { name: 'How to use this key' }).waitFor();
  const blocks = await page.getByRole('group', { name: 'Test command', exact: true }).all();
  return [inDialog, (await blocks[0]?.textContent()) ?? undefined];
}

test('without an example request, only administrators see a command for a new key: a verification', async (site) => {
  const person = await site.openSignedIn();
  await person.goto('/console/keys');
  assert.deepEqual(await commandsOf(person), [undefined, undefined]);
  const url = `${site.app.service.publicUrl}/auth/verify`;
  const commandFor = (body: string) =>
    `curl -s ${url} \\\n  -H "Authorization: Bearer $KEYREEVE_SERVICE_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d ${body}`;
  assert.deepEqual(await commandsOf(await openAsAdministrator(site, '/console/keys')), [
    commandFor(`'{"credential":"SECRET"}'`),
    commandFor(String.raw`"{\"credential\":\"$KEYREEVE_KEY\"}"`),
  ]);
});

test(
  'with an example request, everybody sees a command that sends it to the operator’s API',
  async (site) => {
    const person = await site.openSignedIn();
    await person.goto('/console/keys');
    const commands = [
      `curl -i -X POST 'https://api.example.com/v1/orders?limit=1' \\\n  -H 'Authorization: Bearer SECRET'`,
      `curl -i -X POST 'https://api.example.com/v1/orders?limit=1' \\\n  -H "Authorization: Bearer $KEYREEVE_KEY"`,
    ];
    assert.deepEqual(await commandsOf(person), commands);
    assert.deepEqual(await commandsOf(await openAsAdministrator(site, '/console/keys')), commands);
  },
  {
    isAlone: true,
    databases: ['sqlite'],
    environment: {
      KEYREEVE_API_URL: 'https://api.example.com/',
      KEYREEVE_API_EXAMPLE: 'POST /v1/orders?limit=1',
    },
  },
);

nodeTest('every file with an example is an input of the build', () => {
  for (const file of Object.values(exampleFiles))
    assert.ok(builds.console.inputs.includes(file.replace(/^docs/, '../docs').replace(/^packages\//, '')), file);
});
