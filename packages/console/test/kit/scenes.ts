/**
 * Every page of the console in each of its states. The checks of all pages and the screenshots use this list. Scenes find
 * elements without their texts, because they are opened in several languages.
 */
import type { BrowserContext, Page } from 'playwright-core';
import { newEnrolledAccount } from '../../../server/test-kit/authenticator.ts';
import type { ContextOptions } from './browser-contexts.ts';
import type { ConsoleSite } from './console-site.ts';
import { signInByCookie } from './console-site.ts';
import { seedAdministration } from './admin-seed.ts';
import { approvalScenes } from './approval-scenes.ts';
import { dialogScenes } from './dialog-scenes.ts';
import { ofDataPage, type DataPage } from './page-states.ts';
import type { Scene } from './scene.ts';
import { hostileTexts, seedAccount, type Seeded } from './seed.ts';
import type { Visitor } from './visitor.ts';

const dataPages: readonly DataPage[] = [
  { name: 'keys', path: '/console/keys', hasEmpty: true },
  { name: 'key', path: ({ keys }) => `/console/keys/${keys['billing worker']}` },
  { name: 'trust-key', path: ({ keys }) => `/console/keys/${keys['release workflow']}` },
  { name: 'security', path: '/console/security', hasEmpty: true },
  { name: 'program-key', path: ({ keys }) => `/console/keys/${keys['Acme CLI on laptop']}` },
  { name: 'account', path: '/console/account' },
  { name: 'service-accounts', path: '/console/service-accounts', hasEmpty: true },
  { name: 'service-account', path: ({ serviceId }) => `/console/service-accounts/${serviceId}` },
];

const signInScenes: readonly Scene[] = [
  { name: 'sign-in', as: 'stranger', path: '/console' },
  {
    name: 'sign-in-wrong',
    as: 'stranger',
    path: '/console/sign-in',
    act: async (page) => {
      await page.locator('[name=email]').fill('stranger@example.com');
      await page.locator('[name=password]').fill('a wrong password');
      await page.locator('[type=submit]').click();
      await page.locator('.notice.error').waitFor();
    },
    messages: [/status of 401 /],
  },
  { name: 'sign-up', as: 'stranger', path: '/console/sign-up' },
  { name: 'not-found', as: 'filled', path: '/console/no/such/page' },
];

export const pageScenes: readonly Scene[] = [...signInScenes, ...dataPages.flatMap(ofDataPage), ...approvalScenes];
/** Of people. `admin-scenes.ts` has those of administrators. */
export const scenes: readonly Scene[] = [...pageScenes, ...dialogScenes];

interface Actor {
  readonly seeded: Seeded;
  readonly cookies: Awaited<ReturnType<BrowserContext['cookies']>>;
}

/** Shows the scenes in one page, one after another. */
export class Stage {
  readonly #site: ConsoleSite;
  readonly #options: ContextOptions;
  readonly #actors = new Map<Scene['as'], Actor>();
  #visitor: Visitor | undefined;
  /** Whose cookies the browser has. */
  #as: Scene['as'] | undefined;

  constructor(site: ConsoleSite, options: ContextOptions = {}) {
    this.#site = site;
    this.#options = options;
  }

  async open(scene: Scene): Promise<{ page: Page; visitor: Visitor; seeded: Seeded }> {
    const visitor = (this.#visitor ??= await this.#site.open(this.#options));
    const { page } = visitor;
    const { colorScheme = 'light', width = 1280, height = 900 } = this.#options;
    // What the scene before has left.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.mouse.move(-1, -1);
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    const seeded = await this.#actAs(scene.as, visitor);
    visitor.expect(...(scene.messages ?? []));
    const path = typeof scene.path === 'string' ? scene.path : scene.path(seeded);
    await (scene.load ? scene.load(page, path, visitor) : visitor.goto(path, page));
    await scene.act?.(page, { app: this.#site.app, seeded });
    return { page, visitor, seeded };
  }

  async #actAs(as: Scene['as'], { page, context }: Visitor): Promise<Seeded> {
    const known = this.#actors.get(as);
    if (known && this.#as === as) return known.seeded;
    this.#as = undefined;
    // Otherwise the page could send a request with the cookies of the next account.
    await page.goto('about:blank');
    await context.clearCookies();
    const actor = known ?? (await this.#make(as, context));
    await context.addCookies(actor.cookies);
    this.#actors.set(as, actor);
    this.#as = as;
    return actor.seeded;
  }

  async #make(as: Scene['as'], context: BrowserContext): Promise<Actor> {
    const email = `${as}.${crypto.randomUUID().slice(0, 8)}@example.com`;
    const { app } = this.#site;
    const seeded =
      as === 'filled'
        ? await seedAccount(app, email, Object.values(hostileTexts))
        : as === 'administrator'
          ? await seedAdministration(app, email)
          : { accountId: '', email, accessToken: '', keys: {}, serviceId: '' };
    if (as === 'empty' || as === 'fresh') await app.createAccount(email);
    if (as === 'enrolled') await newEnrolledAccount(app, email);
    if (as !== 'stranger' && as !== 'enrolled') await signInByCookie(context, email);
    return { seeded, cookies: await context.cookies() };
  }
}

/** @returns the faults of all scenes, each with the names of its scenes */
export async function lookAtScenes(
  site: ConsoleSite,
  options: ContextOptions,
  findFaults: (page: Page, seeded: Seeded) => Promise<readonly string[]>,
  list: readonly Scene[] = scenes,
): Promise<Record<string, string>> {
  const stage = new Stage(site, options);
  const found: Record<string, string> = {};
  for (const scene of list) {
    let faults: readonly string[];
    try {
      const { page, seeded } = await stage.open(scene);
      faults = await findFaults(page, seeded);
    } catch (error) {
      faults = [String(error)];
    }
    for (const fault of new Set(faults)) found[fault] = found[fault] ? `${found[fault]}, ${scene.name}` : scene.name;
  }
  return found;
}
