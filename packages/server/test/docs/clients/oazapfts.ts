/** A client from oazapfts: sign-in, create, list, verify, delete, verify. */
import { ok } from '@oazapfts/runtime';
import * as api from './oazapfts-client.ts';
import type { Outcome, Service } from './flow.ts';

export async function run({ baseUrl, email, password, serviceKey }: Service): Promise<Outcome> {
  const basic = (secret: string) => ({ baseUrl, headers: { Authorization: `Basic ${btoa(`${email}:${secret}`)}` } });
  const wrong = await api.issueTokens({}, basic('not the password'));
  if (wrong.status !== 401) throw new Error(String(wrong.status));
  const tokens = await ok(api.issueTokens({}, basic(password)));
  const account = { baseUrl, headers: { Authorization: `Bearer ${tokens.accessToken}` } };
  const created = await ok(api.createKey({ nickname: 'oazapfts' }, account));
  const { apiKeys } = await ok(api.listKeys({}, account));
  const service = { baseUrl, headers: { Authorization: `Bearer ${serviceKey}` } };
  const verify = (): Promise<api.VerificationResult> => ok(api.verify({ credential: created.key }, service));
  const before = await verify();
  if (!before.valid) throw new Error(before.code);
  const { message } = await ok(api.deleteKey(created.id, account));
  const after = await verify();
  if (after.valid) throw new Error(`key ${after.keyId} is still accepted`);
  const rejected = { status: wrong.status, code: wrong.data.code satisfies api.ErrorCode };
  return { rejected, created, listed: apiKeys, before, message, after };
}
