/** The code blocks of pages about features, run in order after those of the README, print what the page shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Environment } from '../e2e/program.ts';
import { hasCurl } from './curl-program.ts';
import { assertShownJson, readPage, runPage, shellBlocks, type PageRun } from './shell-blocks.ts';

/** The value that the page shows. */
const settingOf = (name: string) => (page: string) => ({
  [name]: new RegExp(`^export ${name}=(.*)$`, 'm').exec(page)?.[1] ?? '',
});

/** The wait is one second shorter on a slow machine. */
const withoutSeconds = (text: string): string => text.replaceAll(/(?<=After: |t=)\d+/g, '');

function assertApiKeys(run: PageRun): void {
  const { page, outputs, outputOf } = run;
  assert.doesNotMatch(outputs.join(''), /\/problems\//);
  assertShownJson(run, 3);
  assert.equal(outputOf('/auth/forward').trim(), '200');
  // The last use of the key, if the server has written it before the rotation.
  assert.match(outputOf('member previous.lastUsedAt').trim(), /^(?:null|\d{4}-\d\d-\d\dT[\d:.]+Z)$/);
  assert.match(outputOf('/previous"'), /has ended/);
  assert.match(outputOf('member quotaUse').trim(), /^\{ used: \d+, resetsAt: '\d{4}-\d\d-01T00:00:00\.000Z' \}$/);
  const exceeded = /^HTTP\/1\.1 429 [^]*?(?=\n```)/m.exec(page)?.[0] ?? '';
  const headers = [...outputOf('Retry').matchAll(/^(?:HTTP|RateLimit|Retry).*/gm)].map(([line]) => line.trim());
  assert.equal(withoutSeconds(headers.join('\n')), withoutSeconds(exceeded));
  assert.match(outputOf('key delete'), /^Changed [^]*^Rotated [^]*^Ended [^]*^Deleted API key \d+\.\n$/m);
}

/** With any values for ids, names of accounts, times and secrets. */
const withoutValues = (text: string): string =>
  text
    .trim()
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|(?<=:)\d{6,}|(?<="acc_)[^"]*|(?<=(?:live|test)_)[0-9A-Za-z]{49}/g, '…')
    .replaceAll('……', '…');

function assertEnvironments({ page, outputOf }: PageRun): void {
  const shown = [...page.matchAll(/^```json\n([^]*?)^```$/gm)].map(([, json = '']) => withoutValues(json));
  assert.deepEqual([outputOf('"environment":"test"'), outputOf('/auth/verify"')].map(withoutValues), shown);
  assert.match(outputOf('key list'), /\bnightly +test +acme_test_…/);
  assert.equal(outputOf('/auth/forward').trim(), '403');
}

const withoutHint = (text: string): string => text.trimEnd().replace(/krv_….{4}/, '');

function assertLeaks({ page, blocks, outputs, outputOf }: PageRun): void {
  for (const [index, block] of blocks.entries()) {
    const shown = [...block.matchAll(/^# (.+)$/gm)].map(([, text]) => text);
    if (shown.length > 0) assert.deepEqual(outputs[index]?.trim().split(/\n+/), shown, block);
  }
  assert.match(outputOf('/auth/leaks"'), /^\{"message":"[^"]+"\}\n+$/);
  const shownRules = /```toml\n([^]*?)```/.exec(page)?.[1] ?? '';
  assert.equal(outputOf('scan-rules\n').trimEnd(), shownRules.trimEnd());
  assert.match(outputOf('--format trufflehog'), /^detectors:\n[^]* {6}key: '\(krv_/);
  const shownResult = /```text\n(LINE [^]*?)```/.exec(page)?.[1] ?? '';
  assert.match(shownResult, /1 secret ended/);
  assert.equal(withoutHint(outputOf('key leaked')), withoutHint(shownResult));
}

function assertScopes({ page, outputs }: PageRun): void {
  const printed = outputs.map((output) =>
    output
      .trim()
      .replaceAll(/\n+/g, '\n')
      .replaceAll(/acc_\w+/g, 'acc_…'),
  );
  const shown = [...page.matchAll(/^```(?:json|text)\n([^]*?)^```$/gm)].map(([, text = '']) => text.trim());
  assert.equal(shown.length, 3);
  for (const text of shown) assert.ok(printed.includes(text), text);
  const declared = /^orders:read +open +Read orders and their lines\nreports:read +entitled +Read reports$/m;
  assert.match(printed[0] ?? '', declared);
  assert.match(printed.at(-1) ?? '', /^orders:write +entitled +Create and change orders$/m);
}

function assertServiceAccounts(run: PageRun): void {
  const { outputs, outputOf } = run;
  assert.doesNotMatch(outputs.join(''), /\/problems\//);
  assertShownJson(run, 5);
  assert.match(outputOf('/auth/forward'), /^X-Keyreeve-Account: acc_\w+/im);
  assert.match(outputOf('-X DELETE "$BASE_URL/auth/service-accounts/$TENANT/api-keys'), /^401$/m);
  assert.match(outputOf('"sha256":'), /"nickname":"existing"/);
  assert.match(outputOf('-H "Authorization: Bearer $EXISTING"'), /^200$/m);
  assert.match(outputOf('service-account list'), /^Changed [^]*^Deleted service account acc_\w+\.\n$/m);
}

function assertKeyPage(run: PageRun): void {
  const { outputs, outputOf } = run;
  assert.doesNotMatch(outputs.join(''), /\/problems\//);
  assertShownJson(run, 1);
  assert.equal(outputOf('-X DELETE').trim(), '204');
}

/** They create the management key of a backend, and the service account of a customer. */
const backendBlocks = shellBlocks(readPage('docs/service-accounts.md'))
  .filter((block) => /BACKEND=|"externalId":"tenant_182"/.test(block))
  .slice(0, 2);

type Settings = (page: string) => Environment;

type FeaturePage = readonly [
  name: string,
  check: (run: PageRun) => void,
  settings?: Settings | undefined,
  earlier?: readonly string[],
];

const pages: readonly FeaturePage[] = [
  ['api-keys', assertApiKeys],
  ['environments', assertEnvironments, settingOf('KEYREEVE_ENVIRONMENTS')],
  ['key-page', assertKeyPage, undefined, backendBlocks],
  ['leaks', assertLeaks, () => ({ KEYREEVE_LEAK_REPORTS: 'on' })],
  ['scopes', assertScopes, settingOf('KEYREEVE_SCOPES')],
  ['service-accounts', assertServiceAccounts],
];

for (const [name, check, settings, earlier] of pages)
  test(`each block of docs/${name}.md works as it stands, and prints what the page shows`, async (t) => {
    if (hasCurl(t)) check(await runPage(`docs/${name}.md`, settings, earlier));
  });
