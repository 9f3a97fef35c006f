/** Requests of an administrator for endpoints of webhooks. */
import assert from 'node:assert/strict';
import type { CreatedWebhook, Webhook } from '@keyreeve/contract';
import { bearer, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';

export async function create(app: TestApp, admin: SignedIn, url: string, ...events: string[]): Promise<CreatedWebhook> {
  const json = { url, events: events.length === 0 ? ['account.created'] : events };
  const answer = await app.call('POST', '/admin/webhooks', { headers: bearer(admin.accessToken), json });
  assert.equal(answer.status, 201, answer.text);
  return answer.json as CreatedWebhook;
}

export const read = async (app: TestApp, admin: SignedIn, id: string): Promise<Webhook> =>
  (await app.call('GET', `/admin/webhooks/${id}`, { headers: bearer(admin.accessToken) })).json as Webhook;
