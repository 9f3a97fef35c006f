/** The key page in its states: rights, outages, ended sessions, looks, languages and sizes, and as a page of its own. */
import assert from 'node:assert/strict';
import { until } from '../../server/test-kit/until.ts';
import { contrastOf, rgbOf, white } from '../src/portal/colours.ts';
import { findUnreadable, findViolations } from './accessibility.ts';
import { consoleTests } from './kit/console-site.ts';
import { findOverflow } from './kit/layout.ts';
import { openHosted } from './kit/portal-site.ts';
import { seed } from './kit/readme-pictures.ts';
import { button, closeSecret, create, createKeys, openCreation, pauseMs, submit } from './kit/portal-steps.ts';

const test = consoleTests({
  environment: { KEYREEVE_API_URL: 'https://api.example.com', KEYREEVE_API_EXAMPLE: 'GET /orders' },
});
const options = { databases: ['sqlite'] } as const;

test(
  'the page offers what the session can do, and the server decides',
  async (site) => {
    for (const [capabilities, shown] of [
      [['read'], []],
      [
        ['read', 'create'],
        ['Create key', 'Edit key'],
      ],
      [['read', 'rotate'], ['Rotate secret']],
      [['read', 'limit'], ['Edit key']],
      [['read', 'delete'], ['Delete key']],
    ] as const) {
      await using hosted = await openHosted(site, { hasClock: true, request: { capabilities: [...capabilities] } });
      await hosted.load();
      await createKeys(hosted, site.app, [{ nickname: 'one' }]);
      await hosted.load();
      const { frame } = hosted;
      const names = ['Create key', 'Edit key', 'Rotate secret', 'Disable', 'Delete key'];
      const found = new Set<string>();
      const look = async (): Promise<void> => {
        for (const name of names) if (await button(frame, name).count()) found.add(name);
      };
      await look();
      await button(frame, 'one').click();
      await hosted.settle();
      await look();
      assert.deepEqual([...found].toSorted(), [...shown].toSorted(), capabilities.join());
      if (capabilities.length === 1) {
        await button(frame, 'All API keys').click();
        await frame.getByText('you cannot change them').waitFor();
      }
    }
    await using blind = await openHosted(site, { request: { capabilities: ['delete'] } });
    await blind.load();
    await blind.frame.getByText('You cannot see the API keys here.').waitFor();
  },
  options,
);

test(
  'a key with more scopes than the session is not rotated, and only scopes of the session are offered',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true, request: { scopes: ['orders:read'] } });
    await hosted.load();
    await createKeys(hosted, site.app, [
      { nickname: 'within', scopes: ['orders:read'] },
      { nickname: 'beyond', scopes: ['orders:read', 'orders:write'] },
    ]);
    await hosted.load();
    const { frame } = hosted;
    await button(frame, 'beyond').click();
    await hosted.settle();
    assert.equal(await button(frame, 'Rotate secret').count(), 0);
    await button(frame, 'All API keys').click();
    await button(frame, 'within').click();
    await hosted.settle();
    assert.equal(await button(frame, 'Rotate secret').count(), 1);
    await button(frame, 'Edit key').click();
    await hosted.settle();
    const offered = `[...document.querySelectorAll('dialog input[type=checkbox]')].map(({ value }) => value)`;
    assert.deepEqual(await frame.evaluate(offered), ['orders:read']);
  },
  options,
);

test(
  'a token works once: a frame that is loaded again has no session, and the element gets a new one',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    await hosted.load();
    const { frame } = hosted;
    await frame.evaluate('location.reload()');
    await until('the host is asked for a session', async () => (await hosted.events()).includes('ended'));
    await hosted.page.clock.fastForward(11_000);
    await until('the element has a new session', () => hosted.sessions.length === 2);
    await hosted.shows('No API keys yet');
  },
  options,
);

test(
  'an outage is shown, and the list returns after it',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    const { page, visitor } = hosted;
    await hosted.load();
    const { frame } = hosted;
    visitor.expect(/ERR_FAILED|net::/);
    await page.route('**/auth/portal/**', (route) => route.abort());
    await createKeys(hosted, site.app, [{ nickname: 'later' }, { nickname: 'too' }]);
    await openCreation(hosted, 'offline');
    await submit(hosted).catch(() => undefined);
    await frame.getByText('The service cannot be reached. Check your network connection.').first().waitFor();
    await page.unroute('**/auth/portal/**');
    await frame.getByRole('button', { name: 'Close the dialog' }).click();
    await page.clock.fastForward(20_000);
    await button(frame, 'later').waitFor();
    assert.equal(await frame.getByRole('alert').count(), 0);
  },
  options,
);

test(
  'the page is accessible in both languages and schemes, and fits from 320 to 1920 px',
  async (site) => {
    for (const lang of ['en', 'de'] as const) {
      await using hosted = await openHosted(site, { hasClock: true, attributes: `lang="${lang}"` });
      const { page } = hosted;
      await hosted.load();
      await createKeys(hosted, site.app, [
        { nickname: `${'long '.repeat(10)}nickname`, scopes: ['orders:read', 'orders:write'] },
        { nickname: 'short', limits: { rate: { limit: 5, windowSeconds: 60 } } },
      ]);
      await hosted.load();
      const { frame } = hosted;
      assert.equal(await frame.evaluate('document.documentElement.lang'), lang);
      const check = async (what: string): Promise<void> => {
        await hosted.settle();
        assert.deepEqual(await findViolations(frame), [], `${what} in ${lang}`);
        await hosted.set('theme', 'dark');
        await until(
          'the scheme is dark',
          async () => (await frame.evaluate('document.documentElement.dataset.theme')) === 'dark',
        );
        assert.deepEqual(await findUnreadable(frame), [], `${what} in ${lang}, dark`);
        await hosted.set('theme', 'light');
        for (const width of [320, 375, 768, 1024, 1920]) {
          await page.setViewportSize({ width, height: 800 });
          assert.deepEqual(await findOverflow(frame), [], `${what} in ${lang} at ${width}`);
        }
        await page.setViewportSize({ width: 1280, height: 900 });
      };
      await check('the list');
      await button(frame, 'short').click();
      await check('a key');
      await frame.locator('header .actions .button').first().click();
      await check('the change of a key');
      await page.keyboard.press('Escape');
      await frame.locator('header .actions .button').nth(1).click();
      await check('the rotation');
      await submit(hosted);
      await check('the secret');
    }
  },
  options,
);

test(
  'with forced colours, a select has its arrow, and a blocked button differs from others',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    await hosted.page.emulateMedia({ forcedColors: 'active' });
    await hosted.load();
    await createKeys(hosted, site.app, [{ nickname: 'forced' }]);
    await hosted.load();
    const { frame } = hosted;
    assert.equal(await frame.evaluate(`getComputedStyle(document.querySelector('select')).appearance`), 'auto');
    await create(hosted, 'blocked');
    /** Of the button of a new secret's dialog. */
    const colourOf = (selector: string): Promise<unknown> =>
      frame.evaluate(`getComputedStyle(document.querySelector('dialog ${selector}')).color`);
    const usual = await colourOf('.input-with-button .button');
    assert.notEqual(await colourOf('.actions.end .button'), usual);
    await frame.getByLabel('I have stored it').check();
    assert.equal(await colourOf('.actions.end .button'), usual);
    await closeSecret(hosted);
    await hosted.page.emulateMedia({ forcedColors: null });
  },
  options,
);

test(
  'the list is no higher than the element at its start, so that the page of the host does not move',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    await hosted.load();
    await createKeys(
      hosted,
      site.app,
      Array.from({ length: 9 }, (_, n) => ({ nickname: `key ${n}`, scopes: ['orders:read'] })),
    );
    for (const width of [768, 1280]) {
      await hosted.page.setViewportSize({ width, height: 900 });
      await hosted.load();
      const { frame } = hosted;
      assert.equal(await frame.getByRole('row').count(), 7);
      const height = await frame.evaluate('document.body.getBoundingClientRect().height');
      assert.ok(Number(height) <= 576, `${String(height)} px at ${width}`);
      for (const name of ['Nickname', 'Secret', 'Scopes', 'Last used', 'State'])
        assert.ok(await frame.getByRole('columnheader', { name }).isVisible(), `${name} at ${width}`);
    }
  },
  options,
);

test(
  'a page of its own leads back to the host, and goes back from a key to the list, but not away from a secret',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    await hosted.load();
    await createKeys(hosted, site.app, [{ nickname: 'hosted' }]);
    const { backend, page, visitor } = hosted;
    const returnUrl = 'https://app.example.com/settings';
    const { json } = await site.app.call('POST', '/auth/portal-sessions', {
      headers: backend.headers,
      json: { externalId: backend.externalId, capabilities: ['read', 'rotate'], returnUrl },
    });
    const { url } = json as { readonly url: string };
    await page.goto(url.replace(/^.*(?=\/portal\/)/, site.origin));
    await page.locator('main h1').waitFor();
    assert.equal(await page.evaluate('location.hash'), '');
    const back = page.getByRole('link', { name: 'Back to app.example.com' });
    assert.equal(await back.getAttribute('href'), returnUrl);
    await page.getByRole('button', { name: 'hosted', exact: true }).click();
    await page.getByRole('heading', { name: 'hosted', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Rotate secret', exact: true }).click();
    await page.getByRole('dialog').waitFor();
    await page.clock.fastForward(pauseMs);
    await page.getByRole('dialog').locator('[type=submit]').click();
    const secret = await page.getByLabel('Secret', { exact: true }).inputValue();
    await page.goBack();
    // The step waits until the person has closed the dialog.
    await until('the browser has gone back', () => page.evaluate('history.state.view === undefined'));
    assert.equal(await page.getByLabel('Secret', { exact: true }).inputValue(), secret);
    await page.getByLabel('I have stored it').check();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    await visitor.settle();
    assert.deepEqual(await findViolations(page), []);
    await page.reload();
    await page.getByText('Your session has ended').waitFor();
    assert.equal(await back.first().getAttribute('href'), returnUrl);
  },
  options,
);

test(
  'the page has the look of its host, and another one at once',
  async (site) => {
    const attributes =
      'theme="light" accent="#0a5" background="#fff7e6" radius="2" font="Georgia, serif" density="compact"';
    await using hosted = await openHosted(site, { attributes });
    await hosted.load();
    const { frame } = hosted;
    const style = (selector: string, name: string): Promise<unknown> =>
      frame.evaluate(`getComputedStyle(document.querySelector('${selector}')).getPropertyValue('${name}')`);
    assert.equal(await style('.button.primary', 'background-color'), 'rgb(0, 170, 85)');
    assert.equal(await style('.button.primary', 'border-radius'), '2px');
    assert.equal(await style('html', 'background-color'), 'rgb(255, 247, 230)');
    assert.match(String(await style('body', 'font-family')), /^Georgia, serif/);
    await hosted.set('background', '#101418');
    await until('the background changes', async () => (await style('html', 'background-color')) === 'rgb(16, 20, 24)');
    assert.equal(await style('html', 'color-scheme'), 'dark', 'the scheme is that of the background');
    assert.deepEqual(await findUnreadable(frame), []);
  },
  options,
);

test(
  'a chosen radio button is visible with an accent that is the surface',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true, attributes: 'theme="light" accent="#fff"' });
    await hosted.load();
    await createKeys(hosted, site.app, [{ nickname: 'chosen' }]);
    await hosted.load();
    const { frame } = hosted;
    await button(frame, 'chosen').click();
    await hosted.settle();
    await button(frame, 'Rotate secret').click();
    const drawn = await frame.evaluate<string>(
      `getComputedStyle(document.querySelector('dialog [type=radio]:checked')).accentColor.replaceAll(',', '')`,
    );
    const colour = rgbOf(drawn);
    assert.ok(colour && contrastOf(colour, white) >= 3, drawn);
  },
  options,
);

test(
  'rows with usual contents are not cut off at any width',
  async (site) => {
    await using hosted = await openHosted(site, {});
    await seed(site.app, hosted.backend.serviceId);
    await hosted.load();
    const { frame, page } = hosted;
    // At both sides of each width from which on there are more columns.
    for (const width of [320, 560, 767, 768, 911, 912, 1024, 1151, 1152, 1440]) {
      await page.setViewportSize({ width, height: 800 });
      await until('the frame has the width', async () => Number(await frame.evaluate('innerWidth')) === width - 16);
      const hidden = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.scroll'))`;
      assert.equal(await frame.evaluate(hidden), 0, `at ${width}`);
    }
  },
  options,
);
