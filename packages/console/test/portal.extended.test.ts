/** The key page in a frame of a page of another site: what a person does with keys. */
import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { until } from '../../server/test-kit/until.ts';
import { consoleTests } from './kit/console-site.ts';
import { openHosted } from './kit/portal-site.ts';
import {
  button,
  closeSecret,
  create,
  createKeys,
  dialogOf,
  openCreation,
  pauseMs,
  shownSecret,
  submit,
  submitOf,
} from './kit/portal-steps.ts';

const test = consoleTests({
  environment: { KEYREEVE_API_URL: 'https://api.example.com', KEYREEVE_API_EXAMPLE: 'GET /orders' },
});
const options = { databases: ['sqlite'] } as const;

/** In the page: the time since its start can be set. */
const stoppedClock = `{
  const now = performance.now.bind(performance);
  performance.now = () => globalThis.stoppedAt ?? now();
}`;

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const areApart = (one: Box, other: Box): boolean =>
  one.x + one.width <= other.x ||
  other.x + other.width <= one.x ||
  one.y + one.height <= other.y ||
  other.y + other.height <= one.y;

const idOf = (event: string | undefined): string => event?.split(' ')[1] ?? 'no key';

test(
  'a key is created, copied, rotated, changed and deleted in the frame, and the host gets only its id',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    const { page } = hosted;
    await hosted.load();
    const { frame } = hosted;
    const secret = await create(hosted, 'billing worker');
    assert.match(secret, /^krv_/);
    assert.deepEqual(await hosted.events(), [], 'a host that reloads at the event does not destroy the secret');
    await dialogOf(frame).getByRole('button', { name: 'Copy Secret' }).click();
    await button(frame, 'Copied Secret').waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), secret);
    await frame.getByRole('radio', { name: 'Python' }).check();
    await frame.getByText('os.environ["API_KEY"]').waitFor();
    await closeSecret(hosted);
    await until('the host learns of the key', async () => (await hosted.events()).length === 1);
    const id = idOf((await hosted.events())[0]);
    await button(frame, 'billing worker').click();
    await hosted.settle();

    await button(frame, 'Edit key').click();
    await frame.getByText('IP ranges and limits').click();
    await dialogOf(frame).getByLabel('Requests').first().fill('100');
    await submit(hosted);
    await frame.getByText('100 requests in 60 s, 100 at once').waitFor();

    await button(frame, 'Rotate secret').click();
    await submit(hosted);
    const rotated = await shownSecret(hosted);
    assert.notEqual(rotated, secret);
    await closeSecret(hosted);

    await button(frame, 'Delete key').click();
    await submit(hosted);
    await frame
      .getByText(/Rejected since/)
      .first()
      .waitFor();
    await until('the host learns of the deletion', async () => (await hosted.events()).length === 4);
    assert.deepEqual(await hosted.events(), [`created ${id}`, `changed ${id}`, `rotated ${id}`, `deleted ${id}`]);
    // Chromium denies the storage of frames of other sites to this page.
    const stored = `(() => {
      try { return JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]); } catch { return 'denied'; }
    })()`;
    assert.match(String(await frame.evaluate(stored)), /^(?:denied|\[\{\},\{\},""\])$/);
    assert.equal(await frame.evaluate('location.hash'), '');
    assert.equal(await page.evaluate('history.length'), 2);
  },
  options,
);

test(
  'the second step of an operation accepts nothing in the first half second, and lies at another place than the first one',
  async (site) => {
    for (const width of [320, 1280]) {
      await using hosted = await openHosted(site, { width });
      const { page, visitor } = hosted;
      const script = await page.addInitScript({ content: stoppedClock });
      await hosted.load();
      const { frame } = hosted;
      const opener = button(frame, 'Create key').first();
      const first = await opener.boundingBox();
      await frame.evaluate('stoppedAt = performance.now()');
      await openCreation(hosted, 'second step');
      const second = await submitOf(frame).boundingBox();
      assert.ok(first && second && areApart(first, second), `${width}: ${JSON.stringify([first, second])}`);
      const creations = (): number => visitor.requests.filter((line) => line === 'POST /auth/portal/api-keys').length;
      await submitOf(frame).click();
      await frame.getByLabel('Nickname').press('Enter');
      await frame.evaluate('stoppedAt += 499');
      await submitOf(frame).click();
      await hosted.settle();
      assert.equal(creations(), 0);
      await frame.evaluate('stoppedAt += 1');
      await submitOf(frame).click();
      await frame.getByLabel('I have stored it').waitFor();
      assert.equal(creations(), 1);
      await script.dispose();
    }
  },
  options,
);

test(
  'a press at the place of the first step submits nothing, also after the host has moved the frame below the pointer',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    const { page, visitor } = hosted;
    await hosted.load();
    await createKeys(hosted, site.app, [{ nickname: 'kept' }]);
    await hosted.load();
    const { frame } = hosted;
    await button(frame, 'kept').click();
    await hosted.settle();
    const middleOf = async (target: Locator) => {
      const { x, y, width, height } = (await target.boundingBox())!;
      return { x: x + width / 2, y: y + height / 2 };
    };
    const { x, y } = await middleOf(button(frame, 'Delete key'));
    await page.mouse.move(x, y);
    await page.mouse.down();
    // Such as a key of a game that the person holds.
    await page.keyboard.press('a');
    await page.mouse.up();
    await dialogOf(frame).waitFor();
    await hosted.settle();
    const dialogMoves = `document.querySelector('dialog').classList.contains('other-end')`;
    const isAtOtherEnd = async (): Promise<boolean> => frame.evaluate(dialogMoves);
    const before = await isAtOtherEnd();
    for (const expected of [!before, before]) {
      await page.clock.fastForward(pauseMs);
      const place = await middleOf(submitOf(frame));
      await page.evaluate(`{
        const { style } = document.querySelector('keyreeve-keys');
        style.translate = style.translate || '0px 0px';
        const [left, top] = style.translate.split(' ').map(parseFloat);
        style.translate = (left + ${x - place.x}) + 'px ' + ((top || 0) + ${y - place.y}) + 'px';
      }`);
      const moved = await middleOf(submitOf(frame));
      assert.ok(Math.hypot(moved.x - x, moved.y - y) < 2, 'the submission lies below the pointer');
      await page.mouse.click(x, y);
      await until('the buttons move', async () => (await isAtOtherEnd()) === expected);
    }
    assert.deepEqual(
      visitor.requests.filter((line) => line.startsWith('DELETE')),
      [],
    );
    await submitOf(frame).click();
    await frame.getByText('No API keys yet').waitFor();
  },
  options,
);

test(
  'in a narrow frame, the second step lies in another line than the pointer of the first one',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    const { page } = hosted;
    await page.setViewportSize({ width: 190, height: 700 });
    await hosted.load();
    await createKeys(hosted, site.app, [{ nickname: 'narrow' }]);
    await hosted.load();
    const { frame } = hosted;
    await button(frame, 'narrow').click();
    await hosted.settle();
    await button(frame, 'Delete key').click();
    await dialogOf(frame).waitFor();
    const other = dialogOf(frame).getByRole('button', { name: 'Cancel', exact: true });
    const boxes = async () => [(await submitOf(frame).boundingBox())!, (await other.boundingBox())!] as const;
    const [submission, cancel] = await boxes();
    assert.ok(areApart(submission, cancel) && submission.y !== cancel.y, 'they are in two lines');
    await frame.evaluate(`document.querySelector('dialog').classList.toggle('other-end')`);
    const [moved] = await boxes();
    assert.ok(moved.y > submission.y + submission.height / 2, JSON.stringify([submission, cancel, moved]));
  },
  options,
);

test(
  'a text, such as a secret, cannot be dragged out of the frame, and none into it',
  async (site) => {
    // Playwright drags with timers of the page.
    await using hosted = await openHosted(site);
    const { page } = hosted;
    await hosted.load();
    const { frame } = hosted;
    await openCreation(hosted, 'dragged');
    const field = frame.getByLabel('Nickname');
    await field.selectText();
    await frame.evaluate(`dragged = new Promise((resolve) => {
      addEventListener('dragstart', ({ defaultPrevented }) => resolve(defaultPrevented));
    }); 0`);
    const { x, y, height } = (await field.boundingBox())!;
    await page.mouse.move(x + 20, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + 90, y + 90, { steps: 5 });
    assert.equal(await frame.evaluate('dragged'), true);
    await page.mouse.up();
    const drop = `document.activeElement.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true }))`;
    assert.equal(await frame.evaluate(drop), false);
  },
  options,
);

test(
  'a secret stays on the screen while the language changes and the session ends, and both follow its dialog',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    const { backend, visitor } = hosted;
    await hosted.load();
    const { frame } = hosted;
    const secret = await create(hosted, 'kept');
    await hosted.set('lang', 'de');
    await hosted.set('theme', 'dark');
    await hosted.set('lang', 'not a language');
    await until(
      'the look has changed',
      async () => (await frame.evaluate('document.documentElement.dataset.theme')) === 'dark',
    );
    await hosted.set('lang', 'de-AT');
    visitor.expectStatus(401);
    visitor.expect(/the value of lang is not valid/);
    const [id] = hosted.sessions;
    const ended = await site.app.call('DELETE', `/auth/portal-sessions/${id}`, { headers: backend.headers });
    assert.equal(ended.status, 204, ended.text);
    await frame.evaluate(`dispatchEvent(new Event('offline'))`);
    await hosted.page.clock.fastForward(3_000);
    await until('the page asks for its session', () => visitor.requests.includes('GET /auth/portal/session'));
    assert.equal(await shownSecret(hosted), secret);
    assert.deepEqual(await hosted.events(), []);
    await closeSecret(hosted);
    await until('the host is asked for a session', async () => (await hosted.events()).includes('ended'));
    const [created, end] = await hosted.events();
    assert.match(created ?? '', /^created \d+$/);
    assert.equal(end, 'ended');
    await frame.getByText('Ihre Sitzung ist beendet').waitFor();
    await hosted.page.clock.fastForward(11_000);
    await until('the element has a new session', () => hosted.sessions.length === 2);
    await hosted.shows('kept');
  },
  options,
);

test(
  'a key that is held down opens a dialog and does not press its buttons, and no Enter key in a choice rotates a secret',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    const { page, visitor } = hosted;
    await hosted.load();
    await createKeys(hosted, site.app, [{ nickname: 'held' }]);
    await hosted.load();
    const { frame } = hosted;
    await button(frame, 'held').click();
    await hosted.settle();
    await button(frame, 'Rotate secret').focus();
    await page.keyboard.down('Enter');
    await dialogOf(frame).waitFor();
    await page.clock.fastForward(pauseMs);
    for (let i = 0; i < 3; i++) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    assert.equal(await frame.evaluate('document.activeElement.type'), 'radio');
    await page.keyboard.press('Enter');
    assert.equal(await submitOf(frame).getAttribute('aria-busy'), null);
    assert.deepEqual(
      visitor.requests.filter((line) => line.includes('/rotate')),
      [],
    );
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await frame.getByLabel('I have stored it').waitFor();
    assert.equal(await frame.evaluate('document.activeElement.tagName'), 'H2', 'not the button that copies the secret');
  },
  options,
);

test(
  'the keyboard alone creates a key and deletes it',
  async (site) => {
    await using hosted = await openHosted(site, { hasClock: true });
    const { page } = hosted;
    await hosted.load();
    const { frame } = hosted;
    const reach = async (target: Locator): Promise<void> => {
      for (let stops = 0; (await target.and(frame.locator(':focus')).count()) === 0; stops++) {
        assert.ok(stops < 60, `Tab does not reach ${String(target)}`);
        await page.keyboard.press('Tab');
      }
    };
    const press = async (target: Locator, key = 'Enter'): Promise<void> => {
      await reach(target);
      await page.keyboard.press(key);
    };
    await press(button(frame, 'Create key').first());
    await hosted.settle();
    await page.keyboard.type('by keyboard');
    await page.clock.fastForward(pauseMs);
    await press(submitOf(frame));
    await press(frame.getByLabel('I have stored it'), 'Space');
    await press(button(frame, 'Close'));
    await press(button(frame, 'by keyboard'));
    await hosted.settle();
    await press(button(frame, 'Delete key'));
    await hosted.settle();
    await page.clock.fastForward(pauseMs);
    await press(submitOf(frame));
    await frame.getByText('No API keys yet').waitFor();
  },
  options,
);
