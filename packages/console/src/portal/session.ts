/**
 * The portal session of this page. Its secret is only in the memory of the page, and in no storage: a page that is loaded again has no
 * session.
 */
import { effect, signal } from '@preact/signals';
import type { AnyRequest, ResponseOf } from '../api-types.ts';
import { localTime, setServerTime } from '../clock.ts';
import { outage, watchOutages } from '../outage.ts';
import { Problem } from '../problem.ts';
import { exchange, partsOf } from '../request.ts';
import { config, type KeySettings } from '../session-state.ts';

export type PortalSession = ResponseOf<'GET /auth/portal/session'>;

/** Undefined until the token is redeemed. */
export const portalSession = signal<PortalSession>();
/** Whether the server no longer accepts the session. */
export const hasEnded = signal(false);

let secret = '';

/** The token in the fragment of the URL, which works once. The fragment is removed, so that no script and no history has it. */
export function takeToken(): string {
  const token = location.hash.slice(1);
  history.replaceState(history.state, '', location.pathname);
  return token;
}

/** @throws Problem, also if the token does not work */
export async function redeem(token: string): Promise<void> {
  const id = decodeURIComponent(location.pathname.split('/').at(-1) ?? '');
  const { secret: given, ...state } = (await exchange(addressOf('POST /auth/portal/session'), {
    body: { id, token },
  })) as ResponseOf<'POST /auth/portal/session'>;
  secret = given;
  update(state);
  if (state.display === 'page') history.replaceState({ returnUrl: state.returnUrl }, '');
  watchOutages(async () => {
    // A response about the end of the session is a response.
    await refresh().catch((error: unknown) => {
      if (!hasEnded.peek()) throw error;
    });
    return () => undefined;
  });
  effect(watchExpiry);
}

/** Where a page of its own leads back to, also after a reload that has lost the session. */
export function returnUrl(): string | undefined {
  const kept = (history.state as { readonly returnUrl?: unknown } | null)?.returnUrl;
  return typeof kept === 'string' && /^https?:/.test(kept) && URL.canParse(kept) ? kept : undefined;
}

/** Requests what the session may do now. @throws Problem */
export async function refresh(abort?: AbortSignal): Promise<PortalSession> {
  const state = (await request('GET /auth/portal/session', abort && { signal: abort })) as PortalSession;
  update(state);
  return state;
}

function update(state: PortalSession): void {
  setServerTime(state.now);
  const { product, exampleRequest, verificationUrl, usageDays, keyDaysMax, environments } = state;
  config.value = {
    product,
    mark: state.mark,
    exampleRequest,
    verificationUrl,
    features: { usageDays, keyDaysMax, environments },
  } satisfies KeySettings;
  portalSession.value = state;
}

/** Sends a request with the session. @param route such as `GET /auth/portal/api-keys` @throws Problem */
export async function request(route: string, given?: AnyRequest): Promise<unknown> {
  try {
    return await exchange(addressOf(route), given);
  } catch (error) {
    if (error instanceof Problem) onProblem(error);
    throw error;
  }
}

function onProblem({ code }: Problem): void {
  if (code === 'unavailable' || code === 'unreachable') outage.value = code;
  if (code === 'portal_session_ended') end();
}

function end(): void {
  secret = '';
  hasEnded.value = true;
}

const addressOf = (route: string) => {
  const [method, path] = partsOf(route);
  return {
    method,
    path,
    headers: secret === '' ? {} : { Authorization: `Bearer ${secret}` },
    credentials: 'omit',
  } as const;
};

/** A timer is late after the computer was asleep. Then the response to the next request shows the end. */
function watchExpiry(): (() => void) | undefined {
  const state = portalSession.value;
  if (!state) return undefined;
  const timer = setTimeout(end, Math.max(0, localTime(state.expiresAt) - Date.now()));
  return () => clearTimeout(timer);
}
