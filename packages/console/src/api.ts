/**
 * The client of the API. `call` sends a request with the console's session, `send` one without it.
 */
import type { AnyRequest, Arguments, OpenRoute, ResponseOf, SessionRoute } from './api-types.ts';
import { Problem, unreachable } from './problem.ts';
import { exchange, fetchOf, partsOf, type Address } from './request.ts';

export type { OpenRoute, RequestOf, ResponseOf, SessionRoute } from './api-types.ts';

/** What a failed request of the session causes besides its error. `session.ts` sets it. */
export const onFailure: { handle: (problem: Problem, isRetry: boolean) => Promise<'retry' | 'fail'> } = {
  handle: async () => 'fail',
};

/** @throws Problem */
export async function call<K extends SessionRoute>(route: K, ...[request]: Arguments<K>): Promise<ResponseOf<K>> {
  return (await ofSession(route, request, exchange)) as ResponseOf<K>;
}

/** The body of a response as a file. @throws Problem, also if the connection ends in the middle */
export async function download<K extends SessionRoute>(route: K, ...[request]: Arguments<K>): Promise<Blob> {
  return ofSession(route, request, async (...parts) => {
    const response = await fetchOf(...parts);
    return response.blob().catch(() => {
      throw unreachable();
    });
  });
}

type Exchange<T> = (of: Address, request: AnyRequest | undefined) => Promise<T>;

/** Repeats a request once after a failure that the session can resolve. */
async function ofSession<T>(route: string, request: AnyRequest | undefined, transfer: Exchange<T>): Promise<T> {
  const [method, path] = partsOf(route);
  const attempt = () => transfer(addressOf(method, `/console/api${path}`, request), request);
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof Problem) || (await onFailure.handle(error, false)) === 'fail') throw error;
  }
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof Problem) await onFailure.handle(error, true);
    throw error;
  }
}

/** @throws Problem */
export async function send<K extends OpenRoute>(route: K, ...[request]: Arguments<K>): Promise<ResponseOf<K>> {
  const [method, path] = partsOf(route);
  return (await exchange(addressOf(method, path, request), request)) as ResponseOf<K>;
}

/** With the cookie of the session. */
const addressOf = (method: string, path: string, { isBackground = false }: AnyRequest = {}): Address => ({
  method,
  path,
  headers: { 'X-Keyreeve-Console': isBackground ? 'background' : 'user' },
  credentials: 'same-origin',
});
