/**
 * The session of the person who uses the console. Its secret is in a cookie that scripts cannot read. Other tabs hear of a
 * sign-in and a sign-out through a BroadcastChannel.
 */
import { computed, signal } from '@preact/signals';
import { onFailure, send, type ResponseOf } from './api.ts';
import { Problem } from './problem.ts';

export type Config = ResponseOf<'GET /console/config'>;
export type SessionView = ResponseOf<'GET /console/session'>;

/** Settings of the installation. Undefined until the console has loaded. */
export const config = signal<Config>();
/** Undefined until it is known, null for none. */
export const session = signal<SessionView | null>();
/** Whether the last session ended without a sign-out, for the notice on the sign-in page. */
export const hasExpired = signal(false);
/** The newest failure that concerns the whole service, for the banner. */
export const outage = signal<'unavailable' | 'unreachable'>();
/** While set, the confirmation dialog is open. */
export const confirmation = signal<{ readonly settle: (isConfirmed: boolean) => void }>();

export const isAdministrator = computed(() => session.value?.account.role === 'admin');

const channel = new BroadcastChannel('keyreeve-console');

/** Loads the settings and the session. @throws Problem if the server cannot be reached */
export async function loadSession(): Promise<void> {
  config.value = await send('GET /console/config');
  session.value = await currentSession();
  channel.addEventListener('message', ({ data }) => void reloadSession(data === 'signed-out'));
}

export function setSession(view: SessionView): void {
  session.value = view;
  hasExpired.value = false;
  channel.postMessage('signed-in');
}

export async function signOut(): Promise<void> {
  await send('DELETE /console/session');
  session.value = null;
  hasExpired.value = false;
  channel.postMessage('signed-out');
}

/** After a change of the account, or of the session in another tab. */
export async function reloadSession(isSignedOut = false): Promise<void> {
  session.value = isSignedOut ? null : await currentSession().catch(() => session.value ?? null);
}

async function currentSession(): Promise<SessionView | null> {
  try {
    return await send('GET /console/session', { isBackground: true });
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return null;
    throw error;
  }
}

/** Opens the confirmation dialog. @returns whether the person has confirmed */
export const askToConfirm = (): Promise<boolean> =>
  new Promise((resolve) => {
    confirmation.value = {
      settle: (isConfirmed) => {
        confirmation.value = undefined;
        resolve(isConfirmed);
      },
    };
  });

onFailure.handle = async (problem, isRetry) => {
  if (problem.code === 'unavailable' || problem.code === 'unreachable') outage.value = problem.code;
  if (problem.code === 'administrator_required') await reloadSession();
  if (problem.code === 'console_session_required') {
    // Another tab may have confirmed the session, which replaced the cookie while this request was in progress.
    const current = isRetry ? null : await currentSession().catch(() => null);
    if (current) return 'retry';
    hasExpired.value = session.value !== null;
    session.value = null;
  }
  if (problem.code === 'reauth_required' && !isRetry && (await askToConfirm())) return 'retry';
  return 'fail';
};
