/** A page of the console in one of its states. */
import type { Page } from 'playwright-core';
import type { TestApp } from '../../../server/test-kit/new-app.ts';
import type { Seeded } from './seed.ts';
import type { Visitor } from './visitor.ts';

export interface Scene {
  readonly name: string;
  /**
   * `empty`: an account without data. `filled`: an account with data of every kind. `fresh`: like `empty`, for scenes that
   * change the account. `enrolled`: signed out, with a second factor. `administrator`: an administrator, with accounts of every
   * kind (admin-seed.ts).
   */
  readonly as: 'administrator' | 'stranger' | 'empty' | 'filled' | 'fresh' | 'enrolled';
  readonly path: string | ((seeded: Seeded) => string);
  /** Loads the page. Default: `goto`. */
  readonly load?: (page: Page, path: string, visitor: Visitor) => Promise<void>;
  /** Brings the loaded page into the state. */
  readonly act?: (page: Page, at: { readonly app: TestApp; readonly seeded: Seeded }) => Promise<void>;
  /** Messages that the browser logs in this state. */
  readonly messages?: readonly RegExp[];
}

/** Makes scenes of one account. @returns a scene from its name, path, and what brings it into its state */
export const scenesAs =
  (as: Scene['as']) =>
  (name: string, path: Scene['path'], act?: Scene['act']): Scene => ({ name, as, path, ...(act && { act }) });

/** Clicks one of the elements, and waits for what it opens. */
export const opening =
  (selector: string, place = 0, opened = 'dialog [type=submit]'): NonNullable<Scene['act']> =>
  async (page) => {
    await page.locator(selector).nth(place).click();
    await page.locator(opened).first().waitFor();
  };
