/** Single sign-on of an administrator in a browser: the provider is another site, from which the browser returns. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { newOpenIdProvider } from '../../server/test-kit/openid-provider.ts';
import { consoleTests } from './kit/console-site.ts';

const provider = await newOpenIdProvider();
after(() => provider[Symbol.asyncDispose]());
const test = consoleTests({ environment: provider.environment });

test('an administrator signs in at the provider, and the provider ends the session', async (site) => {
  const visitor = await site.open();
  visitor.expect(/^foreign request: http:\/\/127\.0\.0\.1:\d+\/authorize\?/);
  const { page } = visitor;
  await visitor.goto('/console/keys');
  await page.getByRole('button', { name: 'Sign in with Example ID' }).click();
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
  // A request that arrives after the end of the session would get 401, which the browser logs.
  await visitor.settle();
  const cookies = await visitor.context.cookies();
  assert.deepEqual(
    cookies.map(({ name, sameSite, httpOnly }) => [name, sameSite, httpOnly]),
    [['kr_s', 'Strict', true]],
  );
  const token = await provider.logoutToken({ sub: provider.person.sub }, site.app.clock.now());
  const body = new URLSearchParams({ logout_token: token });
  const ended = await fetch(new URL('/console/sso/logout', site.app.url), { method: 'POST', body });
  assert.equal(ended.status, 200);
  await visitor.goto('/console/keys');
  await page.getByRole('button', { name: 'Sign in with Example ID' }).waitFor();
});
