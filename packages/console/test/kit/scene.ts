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
