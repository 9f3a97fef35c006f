/** What a person does in the key page: steps of the tests with a page that has a clock. */
import assert from 'node:assert/strict';
import type { Frame, Locator } from 'playwright-core';
import type { TestApp } from '../../../server/test-kit/new-app.ts';
import type { HostedPage } from './portal-site.ts';

/** Longer than the pause before a second step. */
export const pauseMs = 600;

export const button = (frame: Frame, name: string): Locator => frame.getByRole('button', { name, exact: true });
export const dialogOf = (frame: Frame): Locator => frame.getByRole('dialog');
export const submitOf = (frame: Frame): Locator => dialogOf(frame).locator('[type=submit]');

export async function submit({ page, frame, settle }: HostedPage): Promise<void> {
  await settle();
  await page.clock.fastForward(pauseMs);
  await submitOf(frame).click();
}

export async function openCreation({ frame, settle }: HostedPage, nickname: string): Promise<void> {
  await button(frame, 'Create key').first().click();
  await dialogOf(frame).waitFor();
  await settle();
  await frame.getByLabel('Nickname').fill(nickname);
}

/** @returns the secret in the dialog, which stays open */
export async function create(hosted: HostedPage, nickname: string): Promise<string> {
  await openCreation(hosted, nickname);
  await submit(hosted);
  return shownSecret(hosted);
}

export const shownSecret = ({ frame }: HostedPage): Promise<string> =>
  frame.getByLabel('Secret', { exact: true }).inputValue();

export async function closeSecret({ frame }: HostedPage): Promise<void> {
  await frame.getByLabel('I have stored it').check();
  await button(frame, 'Close').click();
  await dialogOf(frame).waitFor({ state: 'detached' });
}

/** With the management key of the backend. */
export async function createKeys({ backend }: HostedPage, app: TestApp, bodies: readonly object[]): Promise<void> {
  for (const json of bodies) {
    const { status, text } = await app.call('POST', `${backend.path}/api-keys`, {
      headers: backend.headers,
      json,
    });
    assert.equal(status, 201, text);
  }
}
