/**
 * The session of the person who uses the console. Its secret is in a cookie that scripts cannot read. A BroadcastChannel
 * tells other tabs about a sign-in and a sign-out.
 */
import { computed, effect, signal } from '@preact/signals';
import { onFailure, send } from './api.ts';
import { localTime, setServerTime } from './clock.ts';
import { outage, watchOutages } from './outage.ts';
import { ownOrigin } from './own-origin.ts';
import { Problem } from './problem.ts';
import { config, isAdministrator, session, type SessionView } from './session-state.ts';
import { keepingChoices } from './stored.ts';

export * from './session-state.ts';

/** Why the person must sign in, for the notice on the sign-in page. Undefined after a sign-out in this tab. */
export const endReason = signal<'unused' | 'ended' | 'otherTab' | 'hasAdministrator'>();
/** While set, the session ends soon. `isFinal`: only another sign-in helps. */
export const ending = signal<{ readonly at: number; readonly isFinal: boolean }>();
/** While set, the confirmation dialog is open. */
export const confirmation = signal<{ readonly settle: (isConfirmed: boolean) => void }>();

/** The operator can hide service accounts from people. Requests to the API work anyway. */
export const showsServiceAccounts = computed(
  () => isAdministrator.value || config.value?.features.serviceAccounts === true,
);

const channel = new BroadcastChannel('keyreeve-console');
const warningMs = 120_000;
const checkMs = 60_000;
let checkedAt = 0;
/** Counts sign-ins and ends of the session in this tab. */
let changes = 0;

/** Loads the settings and the session. @throws Problem if the server cannot be reached */
export async function loadSession(): Promise<void> {
  // At the same time: on a slow connection, each round trip delays the page.
  const [settings, current] = await Promise.all([send('GET /console/config'), currentSession()]);
  config.value = settings;
  ownOrigin.value = settings.origin;
  session.value = current;
  channel.addEventListener('message', ({ data }) => void (data === 'signed-out' ? end('otherTab') : reloadSession()));
  document.addEventListener('visibilitychange', () => {
    // Timers are late after the computer was asleep.
    if (!document.hidden && session.value && Date.now() - checkedAt > checkMs) void reloadSession();
  });
  effect(watchEnd);
  watchOutages(async () => {
    const view = await currentSession();
    return () => view === null && endUnexpectedly();
  });
}

export function setSession(view: SessionView): void {
  changes++;
  session.value = view;
  setServerTime(view.now);
  endReason.value = undefined;
  channel.postMessage('signed-in');
}

export async function signOut(): Promise<void> {
  await keepingChoices(() =>
    send('DELETE /console/session').catch((error: unknown) => {
      // Without a session, there is nothing to end.
      if (!(error instanceof Problem) || error.status !== 401) throw error;
    }),
  );
  end(undefined);
  channel.postMessage('signed-out');
}

/** After a change of the account, or of the session in another tab. */
export async function reloadSession(): Promise<void> {
  const current = await currentSession().catch(() => undefined);
  if (current) session.value = current;
  else if (current === null) endUnexpectedly();
}

/** Extends the session, as any action of a person does. @throws Problem */
export async function staySignedIn(): Promise<void> {
  const view = await send('GET /console/session');
  if (view) setSession(view);
  else endUnexpectedly();
}

function end(reason: typeof endReason.value): void {
  changes++;
  if (session.value) endReason.value = reason;
  session.value = null;
  confirmation.value?.settle(false);
}

function endUnexpectedly(): void {
  const view = session.value;
  if (view) end(endOf(view).at <= Date.now() + 1000 ? 'unused' : 'ended');
}

/** @returns undefined if the person signed in or out meanwhile: the response may be about the session before */
async function currentSession(): Promise<SessionView | null | undefined> {
  const before = changes;
  try {
    const view = await send('GET /console/session', { isBackground: true });
    if (changes !== before) return undefined;
    if (view) setServerTime(view.now);
    return view;
  } finally {
    checkedAt = Date.now();
  }
}

function endOf({ session: { idleExpiresAt, expiresAt } }: SessionView): { at: number; isFinal: boolean } {
  const isFinal = expiresAt <= idleExpiresAt;
  return { at: localTime(isFinal ? expiresAt : idleExpiresAt), isFinal };
}

/** Warns before the end of the session, and finds out when it has ended. */
function watchEnd(): (() => void) | undefined {
  ending.value = undefined;
  const view = session.value;
  if (!view) return undefined;
  const warn = async (): Promise<void> => {
    // Another tab, or a request since, may have extended the session.
    const current = await currentSession().catch(() => view);
    if (session.peek() !== view) return;
    if (!current) return endUnexpectedly();
    const next = endOf(current);
    const leftMs = next.at - Date.now();
    if (leftMs > warningMs) return void (session.value = current);
    ending.value = next;
    timer = setTimeout(() => void reloadSession(), Math.max(1000, leftMs + 500));
  };
  let timer = setTimeout(() => void warn(), Math.max(0, endOf(view).at - warningMs - Date.now()));
  return () => clearTimeout(timer);
}

let confirmed: Promise<boolean> | undefined;

/** Opens the confirmation dialog; while it is open, every caller waits for it. @returns whether the person has confirmed */
export const askToConfirm = (): Promise<boolean> =>
  (confirmed ??= new Promise((resolve) => {
    const settle = (isConfirmed: boolean): void => {
      // A request of a cancelled dialog may end after the next dialog has opened.
      if (confirmation.peek()?.settle !== settle) return;
      confirmed = undefined;
      confirmation.value = undefined;
      resolve(isConfirmed);
    };
    confirmation.value = { settle };
  }));

onFailure.handle = async (problem, isRetry) => {
  if (problem.code === 'unavailable' || problem.code === 'unreachable') outage.value = problem.code;
  if (problem.code === 'administrator_required' || problem.code === 'second_factor_enrolment_required')
    await reloadSession();
  if (problem.code === 'console_session_required') {
    // Another tab may have confirmed the session, which replaced the cookie while this request was in progress.
    const current = isRetry ? null : await currentSession().catch(() => null);
    if (current === null) endUnexpectedly();
    else if (session.peek()) return 'retry';
  }
  if (problem.code === 'reauth_required' && !isRetry && (await askToConfirm())) return 'retry';
  return 'fail';
};
