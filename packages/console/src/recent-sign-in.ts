/**
 * Sensitive operations require a sign-in within the last 5 minutes, and the password in addition. These functions confirm the
 * session before such an operation, so that a person does not enter the same password twice, or a one-time code that the
 * server has already accepted and therefore rejects.
 */
import { send } from './api.ts';
import type { Fields } from './fields.ts';
import { askToConfirm, reloadSession, session, setSession } from './session.ts';

/** A minute less than the server's bound: the person still fills in a form. */
const recentMs = 240_000;

/** By the server's clock. */
async function isRecent(): Promise<boolean> {
  await reloadSession();
  const view = session.peek();
  return !!view && Date.parse(view.now) - Date.parse(view.session.authenticatedAt) < recentMs;
}

/** Before a dialog that asks for no password. @returns whether the dialog may open */
export const prepareRecent = async (): Promise<boolean> => (await isRecent()) || askToConfirm();

/** Before a dialog that asks for the password. @returns whether the dialog may open */
export const prepareProof = async (): Promise<boolean> => !session.peek()?.account.secondFactor || prepareRecent();

/**
 * With the password of the dialog: without a second factor, it is enough to confirm the session.
 * @returns the password @throws Problem
 */
export async function confirmByPassword(fields: Fields): Promise<string> {
  const password = fields.text('currentPassword');
  if (!session.peek()?.account.secondFactor && !(await isRecent()))
    setSession(await send('POST /console/session/confirm', { body: { password } }));
  return password;
}
