/** A service in the process of the test, with the credentials of the table. */
import assert from 'node:assert/strict';
import type { CreatedKey } from '@keyreeve/contract';
import { bearer, newApp, type TestApp } from '../server/test-kit/new-app.ts';
import type { RealService } from './check-guards.ts';
import { guardTable } from './guard-table.ts';

export interface StartedService extends RealService, AsyncDisposable {
  readonly app: TestApp;
}

export async function startRealService(): Promise<StartedService> {
  // The limits of requests would refuse the table: all requests come from one IP address.
  const app = await newApp({ areRequestsLimited: false });
  try {
    const credentials = await createCredentials(app);
    const serviceKey = await app.serviceKey();
    return { app, url: app.url, serviceKey, credentials, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
  } catch (error) {
    await app[Symbol.asyncDispose]();
    throw error;
  }
}

async function createCredentials(app: TestApp): Promise<Record<string, string>> {
  const { accessToken } = await app.signIn();
  const headers = bearer(accessToken);
  const texts: Record<string, string> = {};
  for (const [name, credential] of Object.entries(guardTable.credentials)) {
    if (credential.accessToken) texts[name] = accessToken;
    if (!credential.key) continue;
    const created = await app.call('POST', '/auth/api-keys', { headers, json: credential.key });
    assert.equal(created.status, 201, created.text);
    const { id, key } = created.json as CreatedKey;
    texts[name] = key;
    if (credential.then === 'delete') await app.call('DELETE', `/auth/api-keys/${id}`, { headers });
    if (credential.then === 'disable')
      await app.call('PATCH', `/auth/api-keys/${id}`, { headers, json: { disabled: true } });
  }
  return texts;
}
