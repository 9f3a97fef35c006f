/** The sign-in at the mail server: with a password, or with an access token of its provider (XOAUTH2). */
import { callbackify } from 'node:util';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { lazily } from '../../foundation/lazy-modules.ts';
import type { AccessTokens } from './access-tokens.ts';
import type { SignIn } from './smtp-session.ts';

const loadXOAuth2 = lazily(() => import('nodemailer/lib/xoauth2'));

/** @param proof the password, or the source of access tokens */
export function signInWith(user: string, proof: string | AccessTokens): SignIn {
  if (typeof proof === 'string')
    return (connection) => login(connection, { user, credentials: { user, pass: proof }, method: false });
  return async (connection) => {
    const { default: XOAuth2 } = await loadXOAuth2();
    // The library asks again, with `isRejected`, after the server has rejected a token.
    const oauth2 = new XOAuth2({
      user,
      provisionCallback: (_, isRejected, done) => callbackify(() => proof.next(isRejected))(done),
    });
    await login(connection, { user, oauth2, method: 'XOAUTH2' });
  };
}

const login = (connection: SMTPConnection, auth: Parameters<SMTPConnection['login']>[0]): Promise<void> =>
  new Promise((resolve, reject) => connection.login(auth, (error) => (error ? reject(error) : resolve())));
