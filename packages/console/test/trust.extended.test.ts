/** Issuers, and keys that trust them: what a person declares, creates and sees, with identity tokens of a real issuer. */
import assert from 'node:assert/strict';
import { newIdentityIssuer } from '../../server/test-kit/identity-issuer.ts';
import { bearer } from '../../server/test-kit/new-app.ts';
import { after } from 'node:test';
import { consoleTests, signInByCookie, type ConsoleSite } from './kit/console-site.ts';

const issuer = await newIdentityIssuer();
after(() => issuer[Symbol.asyncDispose]());

const test = consoleTests({ environment: issuer.environment });

/** Sends the request of a workflow step. @param step as the console prints it */
async function exchange(site: ConsoleSite, step: string, token: string): Promise<{ status: number; secret: string }> {
  const url = / (http\S+)\/auth\/oauth\/token/.exec(step)?.[1] ?? '';
  assert.equal(url, site.app.service.publicUrl);
  const form = {
    grant_type: /grant_type=(\S+)/.exec(step)?.[1] ?? '',
    client_id: /client_id=(\d+)/.exec(step)?.[1] ?? '',
    assertion: token,
  };
  const response = await fetch(`${site.app.url}/auth/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token: secret = '' } = (await response.json()) as { access_token?: string };
  return { status: response.status, secret };
}

const statusOf = async ({ app }: ConsoleSite, secret: string): Promise<number> =>
  (await app.call('GET', '/auth/forward', { headers: bearer(secret) })).status;

test(
  'an administrator declares an issuer, a key trusts it, shows a rejected token, and loses its secrets with the issuer',
  async (site) => {
    const visitor = await site.open();
    await signInByCookie(visitor.context, 'root@example.com');
    const { page } = visitor;
    const dialog = page.getByRole('dialog');
    const closed = (): Promise<void> => dialog.waitFor({ state: 'detached' });
    const audience = site.app.service.publicUrl;
    const token = (claims = {}): string => issuer.token('github', { audience, claims, now: site.app.clock.now() });

    await visitor.goto('/console/admin/issuers');
    await page.getByRole('button', { name: 'Add issuer' }).click();
    await dialog.getByLabel('URL').fill(issuer.url);
    await dialog.getByRole('button', { name: 'Add issuer' }).click();
    await closed();
    await page.getByRole('cell', { name: '0 keys' }).waitFor();
    await page.getByRole('button', { name: 'Actions for' }).click();
    await page.getByRole('button', { name: 'Fetch signing keys' }).click();
    await dialog.locator('[type=submit]').click();
    await dialog.getByText(issuer.keys[0]!.kid).waitFor();
    await page.keyboard.press('Escape');
    await closed();

    await visitor.goto('/console/keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await dialog.getByLabel('Nickname').fill('release');
    await dialog.getByLabel('Without a secret, with identity tokens').check();
    // The issuer is not declared: the dialog shows an error beside the field.
    visitor.expectStatus(400);
    await dialog.getByLabel('Issuer').fill('https://issuer.example.com');
    await dialog.getByLabel('Repository ID').fill('4711');
    await dialog.getByLabel('Branch').fill('main');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.locator('.field-error', { hasText: 'No issuer with this URL is declared.' }).waitFor();
    await dialog.getByLabel('Issuer').fill(issuer.url);
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const step = await dialog.getByRole('group', { name: 'Workflow step' }).innerText();
    await dialog.getByRole('button', { name: 'Close', exact: true }).click();
    await closed();

    const first = await exchange(site, step, token());
    assert.deepEqual([first.status, await statusOf(site, first.secret)], [200, 200]);
    assert.equal((await exchange(site, step, token({ ref: 'refs/heads/next' }))).status, 400);

    await page.getByRole('link', { name: 'release' }).click();
    await page.getByText('A claim differs from the trusted one or is missing.').waitFor();
    const differing = page.getByRole('row', { name: /^ref / });
    assert.equal((await differing.innerText()).replaceAll(/\s+/g, ' '), 'ref refs/heads/main refs/heads/next differs');

    await page.getByRole('button', { name: 'Change trust' }).click();
    assert.equal(await dialog.getByLabel('Branch').inputValue(), 'main');
    await dialog.getByLabel('Branch').fill('next');
    await dialog.getByLabel('Now', { exact: true }).check();
    await dialog.getByRole('button', { name: 'Change trust' }).click();
    await closed();
    assert.equal(await statusOf(site, first.secret), 401);
    const second = await exchange(site, step, token({ ref: 'refs/heads/next' }));
    assert.deepEqual([second.status, await statusOf(site, second.secret)], [200, 200]);

    await visitor.goto('/console/admin/issuers');
    await page.getByRole('button', { name: 'Actions for' }).click();
    await page.getByRole('button', { name: 'Remove issuer' }).click();
    await dialog.getByText('1 API key trusts it.').waitFor();
    await dialog.locator('[type=submit]').click();
    await closed();
    assert.equal(await statusOf(site, second.secret), 401);
    await visitor.goto('/console/keys');
    await page.getByRole('link', { name: 'release' }).click();
    await page.getByText('The issuer has been removed, so the key issues no more secrets.').waitFor();
  },
  { isAlone: true, databases: ['sqlite'] },
);
