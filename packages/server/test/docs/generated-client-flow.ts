/** The use of a client that a public generator has made of openapi.json. */
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { keyPattern } from '@keyreeve/contract';
import { goodPassword, newApp } from '../../test-kit/new-app.ts';
import type { Outcome, Service } from './clients/flow.ts';

/**
 * Signs in, creates a key, lists it, and sees it rejected once it is deleted.
 * @param client its name, which the key gets
 * @param file exports `run`, which uses the client
 */
export async function assertWorks(client: string, file: string): Promise<void> {
  await using app = await newApp();
  const { email } = await app.createAccount();
  const { run } = (await import(pathToFileURL(file).href)) as {
    run: (service: Service) => Promise<Outcome>;
  };
  const outcome = await run({
    baseUrl: app.url,
    email,
    password: goodPassword,
    serviceKey: await app.serviceKey(),
  });
  const { created, listed, after: rejected } = outcome;
  assert.deepEqual(outcome.rejected, { status: 401, code: 'invalid_credentials' });
  assert.match(created.key, new RegExp(`^${keyPattern(['krv'])}$`));
  assert.deepEqual(
    listed.map(({ id, nickname }) => [id, nickname]),
    [[created.id, client]],
  );
  assert.equal(outcome.before.keyId, created.id);
  assert.match(outcome.message, new RegExp(String(created.id)));
  assert.deepEqual(rejected, { valid: false, code: 'not_found' });
}
