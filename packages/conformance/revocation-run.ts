/**
 * Runs the revocation check on a client library: a gateway in front of an instance answers `/auth/forward` with the results of
 * the library, and forwards all other requests. So all rules of the check apply to the library. Some responses to the library
 * are lost or late.
 */
import { randomInt } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { identityHeaders } from '@keyreeve/contract';
import { Canaries } from '../server/revocation-check/canaries.ts';
import type { Report } from '../server/revocation-check/report.ts';
import { runRevocationCheck, type RunResult } from '../server/revocation-check/run.ts';
import { Workload } from '../server/revocation-check/workload.ts';
import { systemClock } from '../server/src/foundation/clock.ts';
import { issuersByOperator, programsByOperator, serviceAccountsByOperator } from '../server/src/cli/canaries.ts';
import { countKeyDeletions } from '../server/src/modules/audit/audit.ts';
import { FakeClock } from '../server/test-kit/fake-clock.ts';
import { awaited } from '../server/test-kit/until.ts';
import { newApp, type TestApp } from '../server/test-kit/new-app.ts';
import { losingResponses, startFaultyInstance, type ProxiedResponse } from '../server/test/e2e/faulty-instance.ts';
import { LibraryProgram, type Command } from './library-program.ts';

export interface LibraryRun {
  readonly result: RunResult;
  /** Verifications by the library. */
  readonly verifications: number;
}

/** The default of `keyreeve prove-revocation`. */
const concurrency = 16;
const deletionsMax = 20;
/** Never reached: the run ends after its last deletion. */
const secondsMax = 86_400;
/** One in so many requests of the library gets no response. */
const lostEvery = 50;
/** One in so many responses to the library arrives late: longer than a deletion takes. */
const slowEvery = 4;
const slowMs = 100;

/** Runs the check until its last deletion. */
export async function runRevocationCheckOn(command: Command): Promise<LibraryRun> {
  await using gateway = await startGateway(command);
  const { canaries, url } = gateway;
  const result = await awaited('the revocation check ends', (signal) =>
    runRevocationCheck({ instances: [url], canaries, concurrency, seconds: secondsMax, deletionsMax, signal }),
  );
  return { result, verifications: gateway.verifications() };
}

/** Runs the workload of the check until its first violation. */
export async function findViolation(command: Command): Promise<Report> {
  await using gateway = await startGateway(command);
  const workload = await Workload.prepare({ instances: [gateway.url], canaries: gateway.canaries, concurrency });
  try {
    await awaited('the revocation check finds a violation', async (signal) => {
      const found = new AbortController();
      const onDeleted = (): void => {
        if (workload.checker.violations > 0) found.abort();
      };
      await workload.run({ signal: AbortSignal.any([signal, found.signal]), onDeleted });
    });
  } finally {
    workload.close();
  }
  return workload.finish();
}

/** The check compares the results with the times at which secrets expire. */
class RunningClock extends FakeClock {
  readonly isSystem = true;

  override now(): number {
    return systemClock.now();
  }
}

interface Gateway extends AsyncDisposable {
  readonly url: string;
  readonly canaries: Canaries;
  verifications(): number;
}

async function startGateway(command: Command): Promise<Gateway> {
  await using stack = new AsyncDisposableStack();
  const app = stack.use(await newApp({ areRequestsLimited: false, clock: new RunningClock() }));
  const losing = losingResponses({ POST: lostEvery });
  const network = stack.use(
    await startFaultyInstance(app.url, async (request, body, forward) => {
      const response = await losing(request, body, forward);
      if (randomInt(slowEvery) === 0) await setTimeout(slowMs);
      return response;
    }),
  );
  const env = { ...command.env, KEYREEVE_URL: network.url, KEYREEVE_SERVICE_KEY: await app.serviceKey() };
  const program = stack.use(new LibraryProgram({ ...command, env }));
  let verifications = 0;
  const gateway = stack.use(
    await startFaultyInstance(app.url, (request, _body, forward) => {
      if (request.url?.startsWith('/auth/forward') !== true) return forward();
      verifications++;
      return verifyWith(program, request);
    }),
  );
  const { url } = gateway;
  const started = stack.move();
  return {
    url,
    canaries: canariesOf(app),
    verifications: () => verifications,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

function canariesOf({ service: { services }, db }: TestApp): Canaries {
  return new Canaries({
    accounts: services.accounts,
    apiKeys: services.apiKeys,
    deletionsRecorded: (accountId) => countKeyDeletions(db, accountId),
    importKey: undefined,
    catalogue: undefined,
    issuers: issuersByOperator(services.issuers),
    programs: programsByOperator(services.programs),
    serviceAccounts: serviceAccountsByOperator(services),
  });
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
