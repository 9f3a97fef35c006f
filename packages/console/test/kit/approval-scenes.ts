/** The page on which a person approves a program, in its states, and the page of administrators about programs. */
import type { Page } from 'playwright-core';
import { hostileTexts } from './seed.ts';
import type { TestApp } from '../../../server/test-kit/new-app.ts';
import { voidProgramsTx } from '../../../server/src/modules/programs/store.ts';
import { beginSignIn, declareProgram, enterCode, program } from './device.ts';
import { ofDataPage } from './page-states.ts';
import { opening, scenesAs, type Scene } from './scene.ts';

const filled = scenesAs('filled');
const path = '/console/device';
const link = `${path}#WDJB-MJHT`;

/** Shows the request of a program. @param clientIp of the program */
async function review(page: Page, app: TestApp, clientIp?: string): Promise<void> {
  const { user_code: code } = await beginSignIn(app, clientIp);
  await enterCode(page, code);
  await page.locator('main [name=nickname]').waitFor();
}

/** @param place among the buttons of the form */
const decided =
  (place: number): NonNullable<Scene['act']> =>
  async (page, { app }) => {
    await review(page, app);
    await page.locator('main form .button').nth(place).click();
    await page.locator('main .notice[role=status]').waitFor();
  };

export const approvalScenes: readonly Scene[] = [
  filled('approval-code', path),
  filled('approval-link-filled', link),
  {
    ...filled('approval-wrong-code', path, async (page) => {
      await enterCode(page, 'BBBB-BBBB');
      await page.locator('.field-error').waitFor();
    }),
    messages: [/status of 404 /],
  },
  {
    ...filled('approval-wrong-link', link, opening('main [type=submit]', 0, '.notice.error')),
    messages: [/status of 404 /],
  },
  filled('approval-foreign-link', link, opening('main form .button', 1, '.notice[role=status]')),
  filled('approval-review-filled', path, (page, { app }) => review(page, app)),
  filled('approval-review-other-range', path, (page, { app }) => review(page, app, '2001:db8:85a3::7')),
  filled('approval-approved', path, decided(0)),
  filled('approval-denied', path, decided(1)),
];

const as = 'administrator';
const programsPath = '/console/admin/programs';
const scene = scenesAs(as);

/** Programs with long values, and one whose settings a restore has removed. */
export async function seedPrograms(app: TestApp): Promise<void> {
  await declareProgram(app);
  const scopes = ['orders:read', 'x'.repeat(64)];
  await declareProgram(app, { id: 'w'.repeat(64), name: hostileTexts.wide, scopes, lifetimeSeconds: 5_400 });
  await declareProgram(app, { ...program, id: 'lapsed', name: hostileTexts.markup });
  await app.db.transaction((tx) => voidProgramsTx(tx, [{ id: 'lapsed', at: app.clock.now() }]));
}

/** @param place among the actions of the menu */
const programAction = (name: string, place: number): Scene =>
  scene(`admin-program-${name}`, programsPath, async (page, at) => {
    await page.locator('main td .button').first().click();
    await opening('.menu:popover-open button', place)(page, at);
    await page.locator('dialog [aria-busy=true]').first().waitFor({ state: 'detached' });
  });

export const programPageScenes: readonly Scene[] = ofDataPage({ name: 'admin-programs', path: programsPath, as });

export const programDialogScenes: readonly Scene[] = [
  scene('admin-program-add', programsPath, opening('main .button.primary')),
  programAction('change', 0),
  programAction('remove', 1),
];
