/** A client of types from openapi-typescript: sign-in, create, list, verify, delete, verify. */
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.d.ts';
import type { Outcome, Service } from './flow.ts';

type Problem = components['schemas']['Problem'];
type Result = components['schemas']['VerificationResult'];

const basic = (email: string, password: string): string => `Basic ${btoa(`${email}:${password}`)}`;

export async function run({ baseUrl, email, password, serviceKey }: Service): Promise<Outcome> {
  const client = createClient<paths>({ baseUrl });
  const wrong = await client.POST('/auth/token', { headers: { Authorization: basic(email, 'not the password') } });
  const tokens = dataOf(await client.POST('/auth/token', { headers: { Authorization: basic(email, password) } }));
  const headers = { Authorization: `Bearer ${tokens.accessToken}` };
  const created = dataOf(await client.POST('/auth/api-keys', { headers, body: { nickname: 'openapi-fetch' } }));
  const { apiKeys } = dataOf(await client.GET('/auth/api-keys', { headers }));
  const verify = async (): Promise<Result> =>
    dataOf(
      await client.POST('/auth/verify', { headers: { 'X-API-Key': serviceKey }, body: { credential: created.key } }),
    );
  const before = await verify();
  if (!before.valid) throw new Error(before.code);
  const path = { id: created.id };
  const { message } = dataOf(await client.DELETE('/auth/api-keys/{id}', { headers, params: { path } }));
  const after = await verify();
  if (after.valid) throw new Error(`key ${after.keyId} is still accepted`);
  const code: Problem['code'] = wrong.error?.code ?? 'internal_error';
  return { rejected: { status: wrong.response.status, code }, created, listed: apiKeys, before, message, after };
}

function dataOf<T>({ data, error }: { data?: T; error?: Problem }): T {
  if (error) throw new Error(`${error.status} ${error.code}`);
  if (data === undefined) throw new Error('no data');
  return data;
}
