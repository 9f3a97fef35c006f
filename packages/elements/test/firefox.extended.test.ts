/**
 * The key page in Firefox, which gives the storage of a frame to each site of its page apart: the page opens without storage and cookies
 * of its own. Over WebDriver BiDi, a pointer does not reach a frame in a closed shadow root, so Chromium tests the operations.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redeem } from '../../server/test-kit/portal.ts';
import { Host } from './kit/host.ts';
import { openFirefox } from './kit/host-browser.ts';

for (const kind of ['plain', 'strict'] as const)
  test(`in Firefox the key page opens in a page of the kind “${kind}”`, async (t) => {
    await using host = await Host.start(kind);
    await using browser = await openFirefox(t, host);
    if (!browser) return;
    await browser.open();
    await browser.frame.getByText('No API keys yet').waitFor();
    assert.equal(await browser.frame.evaluate('location.hash + document.referrer + document.cookie'), '');
    const [url = '', ...more] = host.sessions;
    const id = new URL(url).pathname.split('/').at(-1) ?? '';
    assert.deepEqual([(await redeem(host.installation.app, { id, url })).status, more], [401, []]);
  });
