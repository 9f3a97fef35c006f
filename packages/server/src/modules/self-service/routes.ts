/** Routes for sign-up, password reset, email change and the own account. */
import * as contract from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { Secret } from '../../foundation/crypto/secret.ts';
import { linkPages, type LinkPageOptions } from '../link-pages/link-pages.ts';
import { route, type Route } from '../../http/route.ts';
import { toOwnAccount } from './account-view.ts';
import type { SelfService } from './self-service.ts';
import type { Remaining, RemainingKey } from './remaining.ts';

const restored =
  'The previous email address is restored, and every session has ended. The password no longer works: unless the account is disabled, a mail with a link to set a new one is being sent to that email address.';
const mailFollows = 'If the request is valid for this email address, a mail with the next step is being sent.';

export function accountRoutes(
  { signUp, emailVerification, passwordReset, own, activity, emailChange, emailUndo }: SelfService,
  pages: LinkPageOptions,
): readonly Route[] {
  return [
    route(contract.signUp, async ({ body, clientIp, language }) => {
      await signUp.request(body.email, new Secret(body.password), { clientIp, language });
      return { status: 202, body: { message: mailFollows } };
    }),
    route(contract.verifyAccount, async ({ body, clientIp }) => {
      await emailVerification.verify(body.code, new Secret(body.password), clientIp);
      return { status: 200, body: { message: 'The email address is verified. You can sign in now.' } };
    }),
    route(contract.resendVerification, async ({ body, clientIp }) => {
      await signUp.resend(body.email, clientIp);
      return { status: 202, body: { message: mailFollows } };
    }),
    route(contract.requestPasswordReset, async ({ body, clientIp }) => {
      await passwordReset.request(body.email, clientIp);
      return { status: 202, body: { message: mailFollows } };
    }),
    route(contract.confirmPasswordReset, async ({ body, clientIp }) => {
      const { code, password, revokeKeys: revokesKeys = false } = body;
      const remaining = await passwordReset.confirm(code, {
        password: new Secret(password),
        revokesKeys,
        clientIp,
      });
      return { status: 200, body: withRemaining('The new password is set and every session has ended.', remaining) };
    }),
    route(contract.acceptInvitation, async ({ body, clientIp }) => {
      await passwordReset.acceptInvitation(body.code, new Secret(body.password), clientIp);
      return { status: 200, body: { message: 'The password is set. You can sign in now.' } };
    }),
    route(contract.getOwnAccount, async ({ principal }) => ({
      status: 200,
      body: toOwnAccount(await own.find(principal)),
    })),
    route(contract.getActivity, async ({ principal, query }) => ({
      status: 200,
      body: await activity.page(principal, query),
    })),
    route(contract.changeLanguage, async ({ principal, body }) => {
      await own.setLanguage(principal, body.language);
      return { status: 204 };
    }),
    route(contract.changePassword, async ({ principal, body, clientIp }) => {
      const { revokeKeys: revokesKeys = false } = body;
      const [currentPassword, newPassword] = [new Secret(body.currentPassword), new Secret(body.newPassword)];
      const keys = await own.changePassword(principal, {
        currentPassword,
        newPassword,
        revokesKeys,
        clientIp,
      });
      return { status: 200, body: withKeys('The new password is set and every other session has ended.', keys) };
    }),
    route(contract.changeEmail, async ({ principal, body, clientIp }) => {
      await emailChange.request(principal, body.email, new Secret(body.currentPassword), clientIp);
      return {
        status: 202,
        body: { message: 'A mail with a link that confirms the change is being sent to the new email address.' },
      };
    }),
    route(contract.confirmEmailChange, async ({ body, clientIp }) => {
      await emailChange.confirm(body.code, new Secret(body.password), clientIp);
      return { status: 200, body: { message: 'The account has the new email address. Sign in with it.' } };
    }),
    route(contract.undoEmailChange, async ({ body: { code, email, revokeKeys = false } }) => {
      const remaining = await emailUndo.undo(code, email, revokeKeys);
      return { status: 200, body: withRemaining(restored, remaining) };
    }),
    route(contract.acceptEmail, async ({ body }) => {
      await emailChange.accept(body.code, body.email);
      return { status: 200, body: { message: 'The account has this email address. Sign in with it.' } };
    }),
    route(contract.deleteAccount, async ({ principal, body, clientIp }) => {
      await own.delete(principal, new Secret(body.currentPassword), clientIp);
      return { status: 204 };
    }),
    ...linkPages(pages),
  ];
}

const withRemaining = (message: string, { keys, factors }: Remaining): contract.MessageAndCredentials => ({
  ...withKeys(message, keys),
  secondFactors: {
    authenticator: factors?.hasAuthenticator ?? false,
    passkeys: (factors?.passkeys ?? []).map(({ name, createdAt }) => ({ name, createdAt: toInstant(createdAt) })),
    recoveryCodes: factors?.recoveryCodes ?? 0,
  },
});

const withKeys = (message: string, keys: readonly RemainingKey[]): contract.MessageAndKeys => ({
  message,
  apiKeys: keys.map(({ id, nickname, createdAt, updatedAt }) => ({
    id,
    nickname,
    createdAt: toInstant(createdAt),
    updatedAt: toInstant(updatedAt),
  })),
});
