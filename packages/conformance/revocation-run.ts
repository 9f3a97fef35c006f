/**
 * Runs the revocation check on a client library: a gateway in front of an instance answers `/auth/forward` with the results of
 * the library, and forwards all other requests. So all rules of the check apply to the library. Some responses to the library
 * are lost or late.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { identityHeaders } from '@keyreeve/contract';
import type { RunResult } from '../server/revocation-check/run.ts';
import { losingResponses, startFaultyInstance, type ProxiedResponse } from '../server/test/e2e/faulty-instance.ts';
import { newProgram } from '../server/test/e2e/program.ts';
import { LibraryProgram, type Command } from './library-program.ts';

export interface LibraryRun {
  readonly result: RunResult;
  /** Verifications by the library. */
  readonly verifications: number;
}

/** One in so many requests of the library gets no response. */
const lostEvery = 50;
/** One in so many responses to the library arrives late: longer than a deletion takes. */
const slowEvery = 4;
const slowMs = 100;

/** @param deletions that end the run */
export async function runRevocationCheckOn(command: Command, deletions: number): Promise<LibraryRun> {
  await using service = await newProgram();
  await service.signIn('library@example.com');
  const args = ['--account', 'library@example.com', '--nickname', 'library', '--scope', 'keyreeve:verify', '--json'];
  const created = await service.command(['key', 'create', ...args]);
  assert.equal(created.status, 0, created.stderr);
  const { key } = JSON.parse(created.stdout) as { key: string };
  const losing = losingResponses({ POST: lostEvery });
  await using network = await startFaultyInstance(service.url, async (request, body, forward) => {
    const response = await losing(request, body, forward);
    if (randomInt(slowEvery) === 0) await setTimeout(slowMs);
    return response;
  });
  const env = { ...command.env, KEYREEVE_URL: network.url, KEYREEVE_SERVICE_KEY: key };
  await using program = new LibraryProgram({ ...command, env });
  let verifications = 0;
  await using gateway = await startFaultyInstance(service.url, (request, _body, forward) => {
    if (request.url?.startsWith('/auth/forward') !== true) return forward();
    verifications++;
    return verifyWith(program, request);
  });
  const { stdout, stderr } = await service.command([
    'prove-revocation',
    '--json',
    '--instances',
    gateway.url,
    '--deletions',
    String(deletions),
  ]);
  assert.equal(stderr, '');
  return { result: JSON.parse(stdout) as RunResult, verifications };
}

/** Presents the credential of a request to the library, and answers like `/auth/forward`. */
async function verifyWith(program: LibraryProgram, { url = '', headers }: IncomingMessage): Promise<ProxiedResponse> {
  const credential = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /i, '') ?? '';
  const address = headers['x-forwarded-for'];
  const scopes = new URL(url, 'http://gateway').searchParams.getAll('scope').filter((scope) => scope !== '');
  const result = await program.verify(String(credential), {
    scopes,
    // Only questions without cost share an entry and are repeated.
    cost: randomInt(4) === 0 ? 1 : 0,
    ...(address === undefined ? {} : { address: String(address).split(', ').at(-1) }),
  });
  if (!result) return answer(503);
  if (result.valid) return answer(200, { [identityHeaders.keyId.toLowerCase()]: String(result['keyId']) });
  const isForbidden = /^(?:insufficient_scope|address_\w+)$/.test(String(result['code']));
  return answer(isForbidden ? 403 : 401);
}

const answer = (status: number, headers: Record<string, string> = {}): ProxiedResponse => ({
  status,
  headers: { ...headers, 'content-length': '0' },
  body: Buffer.alloc(0),
});
