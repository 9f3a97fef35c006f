/** The screenshots in the README, of an account with believable keys and usage. */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { addUsage } from '../../../server/test-kit/uses.ts';
import { insertKeys } from '../../../server/test-kit/many-rows.ts';
import type { TestApp } from '../../../server/test-kit/new-app.ts';
import { BrowserContexts } from './browser-contexts.ts';
import { ConsoleSite, originOf, signInByCookie } from './console-site.ts';
import { newInstallation } from './installation.ts';
import { openHosted } from './portal-site.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

interface Example {
  readonly nickname: string;
  readonly hint: string;
  readonly ageDays: number;
  readonly scopes?: string;
  /** From now. */
  readonly expiresDays?: number;
  readonly usedHoursAgo?: number;
  readonly isDisabled?: boolean;
  /** Verifications in a busy hour. */
  readonly peak?: number;
  /** Of the usual amount. */
  readonly weekend?: number;
}

/** The newest one is used most, and has its own picture. */
const examples: readonly Example[] = [
  { nickname: 'Checkout service', hint: 'krv_…x7Qa', ageDays: 12, scopes: 'orders:read orders:write', peak: 840 },
  { nickname: 'Mobile app', hint: 'krv_…T4mz', ageDays: 31, scopes: 'orders:read', peak: 310, weekend: 1.2 },
  {
    nickname: 'Nightly export',
    hint: 'krv_…9Lbe',
    ageDays: 58,
    scopes: 'reports:read',
    expiresDays: 122,
    peak: 24,
    weekend: 1,
  },
  { nickname: 'Partner: Northwind', hint: 'krv_…k2Vd', ageDays: 83, scopes: 'orders:read', expiresDays: 6, peak: 65 },
  { nickname: 'Staging', hint: 'krv_…c8Rw', ageDays: 97, expiresDays: 268, usedHoursAgo: 70, peak: 9 },
  { nickname: 'Data migration', hint: 'krv_…P1sy', ageDays: 140, expiresDays: -20, usedHoursAgo: 530 },
  { nickname: 'Old laptop', hint: 'krv_…h3Ju', ageDays: 205, usedHoursAgo: 1900, isDisabled: true },
];

export async function seed(app: TestApp, accountId: string): Promise<readonly number[]> {
  const now = app.clock.now();
  const keys = examples.map((example) => ({ ...example, id: randomInt(2 ** 47, 2 ** 48) }));
  await insertKeys(
    app.db,
    accountId,
    keys.map(({ id, nickname, hint, scopes = '', ageDays, expiresDays, usedHoursAgo = 0, isDisabled }) => ({
      id,
      nickname,
      hint,
      scopes,
      createdAt: now - ageDays * dayMs,
      expiresAt: expiresDays === undefined ? null : now + expiresDays * dayMs,
      lastUsedAt: now - usedHoursAgo * hourMs - 1_000 * (ageDays % 50),
      disabledAt: isDisabled ? now - 60 * dayMs : null,
    })),
  );
  const currentHour = Math.floor(now / hourMs) * hourMs;
  const hours = keys.flatMap(({ id, peak = 0, weekend = 0.45, usedHoursAgo = 0, ageDays }, place) =>
    Array.from({ length: Math.min(7, ageDays) * 24 }, (_, hour) => {
      const at = currentHour - hour * hourMs;
      // More by day than by night, and less at the weekend.
      const share =
        0.55 - 0.4 * Math.cos((((at / hourMs) % 24) - 2) * (Math.PI / 12)) + 0.05 * Math.sin(hour * 7 + place);
      const isWeekend = [0, 6].includes(new Date(at).getUTCDay());
      const accepted = Math.round(
        peak * share * (isWeekend ? weekend : 1 - 0.12 * Math.sin(place * 3 + Math.floor(hour / 24))),
      );
      return { keyId: id, at, accepted, refused: hour % 7 === 3 ? Math.round(accepted / 12) : 0 };
    }).filter(({ at, accepted }) => accepted > 0 && at <= now - usedHoursAgo * hourMs),
  );
  await addUsage(app.db, hours);
  return keys.map(({ id }) => id);
}

/** A page of a product around the key page. */
const product = {
  look: 'accent="#0a7d5a" background="#fbfaf7" radius="10" theme="light"',
  menu: `<nav><b>Parcelwise</b><span>Shipments</span><span>Warehouses</span><span>Invoices</span>
    <span class="here">Developers</span></nav><h1>Developers</h1>`,
  style: `body { margin: 0; display: grid; grid: auto 1fr / 220px 1fr; min-height: 100vh; font: 15px/1.5 system-ui, sans-serif;
      background: #fbfaf7; color: #1f2a24 }
    nav { grid-row: span 2; padding: 28px 24px; background: #12382c; color: #d9ebe2 }
    nav b { display: block; margin-bottom: 24px; font-size: 18px }
    nav span { display: block; padding: 6px 0; opacity: 0.75 }
    nav .here { font-weight: 600; opacity: 1 }
    h1 { margin: 28px 36px 12px; font-size: 22px }
    keyreeve-keys { margin: 0 32px }`,
};

async function takeKeyPage(site: ConsoleSite, path: string): Promise<void> {
  await using hosted = await openHosted(site, { width: 1440, height: 700, attributes: product.look });
  await seed(site.app, hosted.backend.serviceId);
  const { page } = hosted;
  await hosted.load();
  await page.addStyleTag({ content: product.style });
  await page.evaluate(`document.querySelector('p').outerHTML = ${JSON.stringify(product.menu)}`);
  await page.mouse.move(0, 0);
  await page.screenshot({ path });
}

/** Writes `console-keys-light.png`, `console-key-dark.png` and `key-page.png` to the folder. */
export async function takeReadmePictures(browser: Browser, folder: string): Promise<void> {
  await using installation = await newInstallation({
    environment: { KEYREEVE_MAIL_FROM: 'Keyreeve <accounts@example.com>' },
  });
  await using contexts = new BrowserContexts(browser, originOf(installation));
  await using site = new ConsoleSite(installation, contexts);
  const { id, email } = await site.app.createAccount('ada@example.com');
  const [first] = await seed(site.app, id);
  const visitor = await site.open({ width: 1280, height: 800 });
  await signInByCookie(visitor.context, email);
  const pictures = [
    ['console-keys-light.png', '/console/keys?sort=-created', 'light'],
    ['console-key-dark.png', `/console/keys/${first}`, 'dark'],
  ] as const;
  for (const [name, path, colorScheme] of pictures) {
    await visitor.page.emulateMedia({ colorScheme });
    await visitor.goto(path);
    await visitor.page.locator('.skeleton').first().waitFor({ state: 'detached' });
    await visitor.page.screenshot({ path: join(folder, name) });
  }
  await takeKeyPage(site, join(folder, 'key-page.png'));
}
