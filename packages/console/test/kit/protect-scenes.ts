/** “Protect your API” in its states: before the first verification, with a new service key, and after the verification. */
import type { Page, Route } from 'playwright-core';
import { opening, type Scene } from './scene.ts';

/** Requests that find out whether a key was verified. */
const allKeys = '**/console/api/admin/api-keys?*';
/** With the card, and without the other parts of the page. */
const cardPath = '/console/keys';

const answer =
  (lastUsedAt: string | null) =>
  async (route: Route): Promise<void> => {
    const response = await route.fetch();
    const { apiKeys } = (await response.json()) as { apiKeys: object[] };
    const json = { apiKeys: apiKeys.slice(0, 1).map((key) => ({ ...key, scopes: [], lastUsedAt })), nextCursor: null };
    await route.fulfill({ response, json });
  };

/** An installation whose keys nothing has verified. */
const asNew = async (page: Page): Promise<void> => void (await page.route(allKeys, answer(null)));

const scene = (name: string, path: string, act: NonNullable<Scene['act']>): Scene => ({
  name,
  as: 'administrator',
  path,
  load: async (page, _, visitor) => {
    await asNew(page);
    await visitor.goto(path, page);
  },
  act: async (page, at) => {
    await page.locator('.first-verification').waitFor();
    await act(page, at);
  },
});

export const protectScenes: readonly Scene[] = [
  scene('protect-filled', cardPath, async () => undefined),
  scene('protect-program', cardPath, (page) => page.locator('.segment').nth(2).click()),
  scene('protect-overview', '/console/admin/overview', async () => undefined),
  scene('protect-verified', cardPath, async (page) => {
    await page.unroute(allKeys);
    await page.route(allKeys, answer('2026-11-20T10:00:00.000Z'));
    await page.locator('.first-verification.done').waitFor();
  }),
  scene('protect-key', cardPath, async (page, at) => {
    await page.locator('.segment').nth(2).click();
    await opening('section .button.primary', 0, 'dialog [name=stored]')(page, at);
  }),
];
