/** What the browser loads for the first page. */
import assert from 'node:assert/strict';
import type { Request } from 'playwright-core';
import { consoleTests } from './kit/console-site.ts';

const test = consoleTests();

test(
  'the first page makes at most 8 requests, and one to offer passkeys, all to the origin of the console',
  async (site) => {
    const visitor = await site.open();
    const loaded: URL[] = [];
    visitor.context.on('request', (request: Request) => void loaded.push(new URL(request.url())));
    await visitor.goto('/console');
    await visitor.page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    const offers = loaded.filter(({ pathname }) => pathname === '/auth/passkeys/sign-in/options');
    const paths = loaded.map(({ pathname }) => pathname).join('\n');
    assert.deepEqual([...new Set(loaded.map(({ origin }) => origin))], [site.origin]);
    assert.ok(offers.length <= 1, paths);
    assert.ok(loaded.length - offers.length <= 8, paths);
  },
  { databases: ['sqlite'] },
);
