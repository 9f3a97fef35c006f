/** The script of the pages for links in mail, run on a minimal document. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { BasePath } from '../../../http/base-path.ts';
import { linkPages } from '../link-pages.ts';

interface Form {
  readonly dataset: { readonly when: string; readonly to: string; readonly done: string };
  /** The field for a code, which only the form with a code has. */
  readonly codeLabel: { readonly hidden: boolean };
  readonly inputs: readonly { readonly name: string; value: string }[];
  hidden: boolean;
  isRemoved: boolean;
  readonly submit: () => void;
}

interface Page {
  readonly forms: readonly Form[];
  readonly status: { textContent: string; className: string };
  /** Paths that the script set in the address bar. */
  readonly replaced: readonly string[];
  readonly sent: { readonly to: string; readonly credentials: string; readonly body: unknown }[];
  /** How often the script has loaded the page again. */
  readonly reloads: () => number;
  /** As a browser does when a link to the same page is pasted into its tab. */
  readonly paste: (hash: string) => void;
  /** Elements that got the focus, in order. */
  readonly focused: readonly string[];
  readonly settled: () => Promise<void>;
}

interface Answer {
  readonly ok: boolean;
  readonly json: Readonly<Record<string, unknown>>;
}

const options = {
  look: { operator: 'Example', mark: undefined, accent: undefined },
  signInUrl: undefined,
  defaultLanguage: 'en',
  passwordLengthMin: 15,
  changePasswordUrl: '/console/account',
  basePath: new BasePath('https://auth.example.com'),
} as const;
const problem = (code: string, title: string, detail: string): Answer => ({ ok: false, json: { code, title, detail } });
const badCode = problem('code_invalid', 'The code is not valid', 'It was used.');

/** Opens a page and enters `typed` into its fields. */
async function open(path: string, hash: string, answer: Answer, pathname = path): Promise<Page> {
  const route = linkPages(options).find(({ contract }) => contract.path === path);
  assert.ok(route, path);
  const contentRequest = { codings: [], ifNoneMatch: undefined };
  const body = String((await route.handle({ language: 'en', contentRequest } as never)).body);
  const [, script = ''] = /<script>([^]*?)<\/script>/.exec(body) ?? [];
  const focused: string[] = [];
  const status = {
    textContent: '',
    className: '',
    append: (...parts: readonly { href?: string }[]) => void parts,
    focus: () => void focused.push('status'),
  };
  const [, encoded = ''] = /<main data-texts="([^"]*)"/.exec(body) ?? [];
  const main = { dataset: { texts: encoded.replaceAll('&quot;', '"').replaceAll('&amp;', '&') } };
  const forms = [
    ...body.matchAll(/<form data-when="([^"]*)" data-to="([^"]*)" data-done="([^"]*)" hidden>([^]*?)<\/form>/g),
  ].map(([, when = '', to = '', done = '', content = '']) => newForm({ when, to, done }, content, focused));
  let reloads = 0;
  let onHashChange = (): void => undefined;
  const location = { hash, pathname, search: '', reload: () => void reloads++ };
  const paste = (pasted: string): void => {
    location.hash = pasted;
    onHashChange();
  };
  const replaced: string[] = [];
  const sent: Page['sent'] = [];
  const fetch = async (to: string, init: { credentials: string; body: string }): Promise<unknown> => {
    sent.push({ to, credentials: init.credentials, body: JSON.parse(init.body) });
    return { ok: answer.ok, json: async () => answer.json };
  };
  runInNewContext(script, {
    document: {
      forms,
      querySelector: (selector: string) => (selector === 'main' ? main : status),
      createElement: () => ({ append: () => undefined }),
    },
    location,
    addEventListener: (_: string, listener: () => void) => (onHashChange = listener),
    history: { replaceState: (_: unknown, __: string, to: string) => replaced.push(to) },
    fetch,
  });
  const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  return { forms, status, replaced, sent, reloads: () => reloads, paste, focused, settled };
}

function newForm(dataset: Form['dataset'], content: string, focused: string[]): Form {
  const inputs = [...content.matchAll(/<input type="(\w+)"(?: name="(\w+)")?/g)].map(([, type = '', name = '']) => ({
    type,
    name,
    value: 'typed',
    checked: false,
    setAttribute: () => undefined,
    removeAttribute: () => undefined,
    focus: () => void focused.push(name),
  }));
  let listener: (event: unknown) => void = () => undefined;
  const codeLabel = { hidden: true };
  const form = {
    dataset,
    codeLabel,
    inputs,
    hidden: true,
    isRemoved: false,
    querySelector: (selector: string) =>
      selector === '.code'
        ? codeLabel
        : selector.startsWith('input')
          ? inputs.find(({ name }) => name !== '' && (name === 'code') === (selector === 'input[name=code]'))
          : { getAttribute: () => null, setAttribute: () => undefined, removeAttribute: () => undefined },
    querySelectorAll: () => inputs,
    addEventListener: (_: string, listen: typeof listener) => (listener = listen),
    remove: () => (form.isRemoved = true),
    submit: () => listener({ preventDefault: () => undefined }),
  };
  return form;
}

const shown = ({ forms }: Page): string[] =>
  forms.filter(({ hidden, isRemoved }) => !hidden && !isRemoved).map(({ dataset }) => dataset.when);

test('a page removes the code from the URL, and sends it without cookies only after the user submits the form', async () => {
  const page = await open('/account/reset-password', '#krvc_1', { ok: true, json: { message: 'Done.' } });
  await page.settled();
  assert.deepEqual([page.replaced, page.sent, shown(page)], [['/account/reset-password'], [], ['code']]);
  page.forms.find(({ hidden }) => !hidden)?.submit();
  await page.settled();
  assert.deepEqual(page.sent, [
    { to: '/auth/password-resets/confirm', credentials: 'omit', body: { code: 'krvc_1', password: 'typed' } },
  ]);
  assert.deepEqual(
    [page.status.textContent, page.status.className, shown(page), page.focused],
    ['The new password is in force, and every session has ended.', '', [], ['status']],
  );
});

test('after an invalid code, a page offers another mail if it has a form for that', async () => {
  for (const [path, offer] of [
    ['/account/verify-email', ['no code']],
    ['/account/reset-password', ['no code']],
    ['/account/change-email', []],
    ['/account/undo-email-change', []],
    ['/account/accept-email', []],
    ['/account/remove-key', []],
    ['/account/accept-invitation', ['no code']],
  ] as const) {
    const page = await open(path, '#krvc_1', badCode);
    page.forms.find(({ hidden }) => !hidden)?.submit();
    await page.settled();
    assert.deepEqual([page.status.className, shown(page)], ['failed', offer], path);
    page.forms.find(({ hidden, isRemoved }) => !hidden && !isRemoved)?.submit();
    await page.settled();
    const bodies = page.sent.slice(1).map(({ body }) => body);
    assert.deepEqual(bodies, offer.length === 0 ? [] : [{ email: 'typed' }], path);
  }
});

const code = `krvc_${'1aB'.repeat(16)}9`;
const done: Answer = { ok: true, json: { message: 'Done.' } };

test('a page finds a code that a mail gateway has moved into the path, and removes it from the URL', async () => {
  for (const rewritten of ['%23', '%2523', '/%23']) {
    const page = await open('/account/verify-email', '', done, `/account/verify-email${rewritten}${code}`);
    assert.deepEqual([page.replaced, shown(page)], [['/account/verify-email'], ['code']], rewritten);
    page.forms.find(({ hidden }) => !hidden)?.submit();
    await page.settled();
    assert.deepEqual(
      page.sent.map(({ body }) => body),
      [{ code, password: 'typed' }],
    );
  }
});

test('without a code, a page has a field for it, which accepts the code or the whole link', async () => {
  for (const path of [
    'verify-email',
    'reset-password',
    'change-email',
    'undo-email-change',
    'accept-email',
    'remove-key',
    'accept-invitation',
  ]) {
    for (const typed of [code, ` https://auth.example.com/account/${path}#${code}\n`]) {
      const page = await open(`/account/${path}`, '', done);
      assert.ok(shown(page).includes('code'), path);
      const form = page.forms.find(({ dataset }) => dataset.when === 'code');
      assert.equal(form?.codeLabel.hidden, false);
      for (const input of form?.inputs ?? []) if (input.name === 'code') input.value = typed;
      form?.submit();
      await page.settled();
      const [sent] = page.sent;
      assert.equal((sent?.body as { code?: string } | undefined)?.code, code, path);
      assert.deepEqual(shown(page), [], path);
    }
  }
});

test('a code that the user has entered wrongly can be corrected', async () => {
  const page = await open('/account/verify-email', '', badCode);
  page.forms.find(({ dataset }) => dataset.when === 'code')?.submit();
  await page.settled();
  assert.deepEqual([page.focused.at(-1), shown(page)], ['code', ['no code', 'code']]);
});

test('a link that is pasted into the tab of an earlier one is read', async () => {
  const page = await open('/account/verify-email', '#krvc_1', badCode);
  page.paste('');
  assert.equal(page.reloads(), 0);
  page.paste(`#${code}`);
  assert.equal(page.reloads(), 1);
});

test('the focus moves to the field to correct, or to the error', async () => {
  for (const [answer, focused] of [
    [problem('invalid_credentials', 'Email or password is wrong', 'Send `Authorization: Basic …`.'), 'password'],
    [badCode, 'status'],
    [problem('not_found', 'Not found', 'No route has this path.'), 'status'],
  ] as const) {
    const page = await open('/account/verify-email', '#krvc_1', answer);
    page.forms.find(({ hidden }) => !hidden)?.submit();
    await page.settled();
    assert.equal(page.focused.at(-1), focused);
  }
});

test('the user name is for password managers only: it is not sent, and an error moves the focus to the password', async () => {
  const tooShort = problem('password_too_short', 'The password is too short', 'It has 5 characters.');
  const page = await open('/account/accept-invitation', '#krvc_1', tooShort);
  page.forms.find(({ hidden }) => !hidden)?.submit();
  await page.settled();
  assert.deepEqual(
    page.sent.map(({ body }) => body),
    [{ code: 'krvc_1', password: 'typed' }],
  );
  assert.equal(page.focused.at(-1), 'password');
});

test('a wrong password has an explanation for users, and an unexpected problem has the text of the service', async () => {
  const wrong = problem('invalid_credentials', 'Email or password is wrong', 'Send `Authorization: Basic …`.');
  const other = problem('not_found', 'Not found', 'No route has this path.');
  for (const [answer, words] of [
    [wrong, 'The password is wrong.'],
    [other, 'Not found. No route has this path.'],
  ] as const) {
    const page = await open('/account/verify-email', '#krvc_1', answer);
    page.forms.find(({ hidden }) => !hidden)?.submit();
    await page.settled();
    assert.deepEqual([page.status.textContent, page.status.className, shown(page)], [words, 'failed', ['code']]);
  }
});
