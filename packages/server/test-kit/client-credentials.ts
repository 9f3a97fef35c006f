/** A client with the id and the secret of an API key, which gets short-lived secrets (RFC 6749 section 4.4). */
import assert from 'node:assert/strict';
import { clientCredentialsGrant, type ExchangedSecret } from '@keyreeve/contract';
import { basic, type Answered, type TestApp } from './new-app.ts';

const form = { 'content-type': 'application/x-www-form-urlencoded' };

export interface ClientRequest {
  /** Of the form. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export function requestToken(app: TestApp, { parameters = {}, headers = {} }: ClientRequest): Promise<Answered> {
  const body = new URLSearchParams({ grant_type: clientCredentialsGrant, ...parameters });
  return app.call('POST', '/auth/oauth/token', { headers: { ...form, ...headers }, body: body.toString() });
}

/** With Basic. */
export const requestAs = (app: TestApp, id: number | string, secret: string): Promise<Answered> =>
  requestToken(app, { headers: basic(String(id), secret) });

/** @returns a new short-lived secret */
export async function newSecretFor(app: TestApp, id: number, secret: string): Promise<string> {
  const answer = await requestAs(app, id, secret);
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as ExchangedSecret).access_token;
}
