/** Sign-in and sign-out, as a person uses them. */
import type { Page } from 'playwright-core';
import { goodPassword } from '../../../server/test-kit/new-app.ts';

/** Submits the form of the open sign-in page. */
export async function signIn(page: Page, email: string, password = goodPassword): Promise<void> {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account menu' }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
}
