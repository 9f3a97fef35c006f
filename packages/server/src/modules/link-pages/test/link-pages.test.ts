/** The pages that links in mail open: a visit changes nothing, and only their own script runs. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { allRoutes } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import {
  assertRejected,
  newAccountClient,
  otherPassword,
  type AccountClient,
} from '../../../../test-kit/account-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const pages = allRoutes.filter(({ path }) => path.startsWith('/account/')).map(({ path }) => path);
const email = 'ada@example.com';

const pageAt = async (client: AccountClient, path: string): Promise<{ html: string; headers: Headers }> => {
  const { status, text: html, headers } = await client.app.call('GET', path);
  assert.equal(status, 200, path);
  return { html, headers };
};

const between = (html: string, tag: string): string[] =>
  [...html.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))].map(([, text = '']) => text);

const sourceOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

test(
  'a page for a link in mail loads nothing, and its policy allows only its own script and style by hash',
  { tags: ['asvs:3.4.3', 'asvs:3.7.1', 'asvs:14.3.3'] },
  async () => {
    await using client = await newAccountClient();
    assert.ok(pages.length >= 4, pages.join());
    for (const path of pages) {
      const { html, headers } = await pageAt(client, path);
      const [script = '', ...scripts] = between(html, 'script');
      const [style = '', ...styles] = between(html, 'style');
      assert.deepEqual([scripts, styles], [[], []]);
      assert.equal(
        headers.get('content-security-policy'),
        `default-src 'none'; style-src ${sourceOf(style)}; script-src ${sourceOf(script)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
      );
      assert.doesNotMatch(
        html,
        /<(?:link|img|iframe|object|embed|base|script [^>]*src)|\son\w+=|https?:|="javascript:/i,
      );
      assert.deepEqual([headers.get('cache-control'), headers.get('set-cookie')], ['no-cache', null]);
    }
  },
);

test('a visit to a link in a mail changes nothing, and the code stays valid', { tags: ['asvs:3.5.3'] }, async () => {
  await using client = await newAccountClient();
  await client.newAccount(email);
  await client.post('/auth/password-resets', { email });
  const mail = await client.mailbox.next({ to: email, subject: 'Set a new password' });
  const [link = ''] = /https?:\S+#krvc_\w+/.exec(mail.text) ?? [];
  const { pathname, hash } = new URL(link);
  await client.untilOutboxEmpty();
  const before = await listAuditEvents(client.app.db);
  const first = await pageAt(client, pathname);
  for (const method of ['GET', 'HEAD', 'GET', 'OPTIONS', 'GET']) await client.app.call(method, pathname);
  // A scanner may send the fragment, unlike a browser.
  await client.app.call('GET', `${pathname}?${hash.slice(1)}`);
  const { html } = await pageAt(client, pathname);
  assert.equal(html, first.html);
  assert.ok(!html.includes(hash.slice(1)));
  assert.deepEqual(await listAuditEvents(client.app.db), before);
  assert.equal((await client.confirmReset(hash.slice(1), otherPassword)).status, 200);
});

test('no link in a mail changes anything without an input that a mail scanner does not have', async () => {
  await using client = await newAccountClient();
  let found = 0;
  for (const path of pages) {
    const { html } = await pageAt(client, path);
    const forms = html.match(/<form data-when="code"[^]*?<\/form>/g) ?? [];
    assert.equal(forms.length, 1, path);
    for (const form of forms) {
      found++;
      const typed = [...form.matchAll(/<input[^>]*>/g)].filter(([input]) => / name="\w+"[^>]* required/.test(input));
      assert.ok(typed.length > 0, `${path}: ${form}`);
      for (const [input] of typed) assert.match(input, /type="(?:email|password)"/);
      // A scanner would send what the page fills in.
      assert.doesNotMatch(form, / value=| checked/);
    }
  }
  assert.equal(found, 7);
  // The token of the key page is in no mail.
  const routes = allRoutes.filter(({ id, auth }) => auth === 'one_time_code' && id !== 'redeemPortalToken');
  assert.ok(routes.length >= 7);
  for (const { path } of routes) {
    const answer = await client.post(path, { code: `krvc_${'0'.repeat(49)}` });
    assertRejected(answer, 'invalid_request', path);
  }
});

test('the script shows responses as text and stores nothing', { tags: ['asvs:3.2.2', 'asvs:14.3.3'] }, async () => {
  await using client = await newAccountClient();
  for (const path of pages) {
    const [script = ''] = between((await pageAt(client, path)).html, 'script');
    assert.match(script, /\.textContent = /);
    assert.doesNotMatch(
      script,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|localStorage|sessionStorage|indexedDB|cookie|eval|Function|postMessage|setTimeout/,
    );
  }
});

test(
  'password fields hide the input and support password managers',
  { tags: ['asvs:6.2.6', 'asvs:6.2.7'] },
  async () => {
    await using client = await newAccountClient();
    let found = 0;
    for (const path of pages) {
      const { html } = await pageAt(client, path);
      for (const [input] of html.matchAll(/<input[^>]*name="(?:password|newPassword|currentPassword)"[^>]*>/g)) {
        found++;
        assert.match(input, /type="password"/);
        assert.match(input, /autocomplete="(?:current|new)-password"/);
        assert.doesNotMatch(input, /maxlength|readonly|onpaste|autocomplete="off"/);
      }
    }
    assert.ok(found >= 4);
  },
);

test('every form with a new password has a field for the user name, before the password and not sent', async () => {
  await using client = await newAccountClient();
  let found = 0;
  for (const path of pages) {
    const { html } = await pageAt(client, path);
    for (const [form] of html.matchAll(/<form[^]*?<\/form>/g)) {
      if (!form.includes('autocomplete="new-password"')) continue;
      found++;
      const [username = '', ...others] = form.match(/<input[^>]*autocomplete="username"[^>]*>/g) ?? [];
      assert.deepEqual(others, [], path);
      assert.doesNotMatch(username, / name=| required| hidden|readonly/, path);
      assert.ok(form.indexOf(username) < form.indexOf('autocomplete="new-password"'), path);
    }
  }
  assert.equal(found, 2);
});

test('password managers find the page that changes the password', async () => {
  const places: readonly (readonly [location: string, environment: Readonly<Record<string, string>>])[] = [
    ['/console/account', {}],
    ['https://console.example.com/console/account', { KEYREEVE_CONSOLE_URL: 'https://console.example.com' }],
    ['/account/reset-password', { KEYREEVE_CONSOLE: 'off' }],
    [
      'https://example.com/account/reset-password',
      { KEYREEVE_CONSOLE: 'off', KEYREEVE_LINKS_URL: 'https://example.com/account' },
    ],
  ];
  for (const [location, environment] of places) {
    await using client = await newAccountClient(environment);
    const found = await client.app.call('GET', '/.well-known/change-password');
    assert.deepEqual([found.status, found.headers.get('location')], [303, location]);
    // W3C, Detecting the reliability of HTTP status codes: without it, password managers do not use the URL.
    const absent = '/.well-known/resource-that-should-not-exist-whose-status-code-should-not-be-200';
    assert.equal((await client.app.call('GET', absent)).status, 404);
  }
});

test('a page names the operator, the rule for passwords and the configured sign-in page', async () => {
  await using client = await newAccountClient({
    KEYREEVE_SIGN_IN_URL: 'https://example.com/sign-in',
    KEYREEVE_PASSWORD_LENGTH_MIN: '17',
  });
  for (const path of pages) {
    const { html } = await pageAt(client, path);
    assert.match(html, /<p class="operator">Example<\/p>/, path);
    assert.ok(html.includes('&quot;signInUrl&quot;:&quot;https://example.com/sign-in&quot;'), path);
    if (html.includes('autocomplete="new-password"')) assert.match(html, /At least 17 characters\./, path);
  }
});

test('a page has the language that the browser prefers', async () => {
  await using client = await newAccountClient();
  for (const [accepted, language, title] of [
    [undefined, 'en', 'Set a new password'],
    ['de', 'de', 'Neues Passwort setzen'],
    ['de-AT, en;q=0.5', 'de', 'Neues Passwort setzen'],
    ['fr, de;q=0.3, en;q=0.8', 'en', 'Set a new password'],
    ['fr', 'en', 'Set a new password'],
    ['*', 'en', 'Set a new password'],
    [';;q=,', 'en', 'Set a new password'],
  ] as const) {
    const headers = accepted === undefined ? {} : { 'accept-language': accepted };
    const { status, text, headers: answered } = await client.app.call('GET', '/account/reset-password', { headers });
    assert.equal(status, 200);
    assert.ok(text.includes(`<html lang="${language}">`) && text.includes(`<h1>${title}</h1>`), String(accepted));
    assert.deepEqual(
      [answered.get('content-language'), answered.get('vary')],
      [language, 'Accept-Encoding, Accept-Language'],
    );
  }
});

test('a link that a mail gateway has rewritten leads to its page, and other paths do not', async () => {
  await using client = await newAccountClient();
  const code = `krvc_${'1aB'.repeat(16)}9`;
  for (const path of pages) {
    const { html } = await pageAt(client, path);
    for (const rest of [`%23${code}`, `%2523${code}`, `/%23${code}`, '/', '%23']) {
      for (const method of ['GET', 'HEAD']) {
        const found = await fetch(`${client.app.url}${path}${rest}`, { method });
        assert.deepEqual([found.status, await found.text()], [200, method === 'GET' ? html : ''], `${path}${rest}`);
      }
    }
    for (const rest of ['x', '%24', '/x', `%23${code}.x`, '%23/x'])
      assert.equal((await fetch(`${client.app.url}${path}${rest}`)).status, 404, `${path}${rest}`);
    assert.ok(html.includes('name="code"'), path);
  }
});
