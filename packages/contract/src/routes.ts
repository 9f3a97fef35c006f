/** Every route of the public listener, in the order in which people read them. */
import {
  acceptInvitation,
  acceptInvitationPage,
  changeEmail,
  changeEmailPage,
  changeLanguage,
  changePassword,
  confirmEmailChange,
  confirmPasswordReset,
  deleteAccount,
  getOwnAccount,
  requestPasswordReset,
  resendVerification,
  resetPasswordPage,
  signUp,
  verifyAccount,
  verifyEmailPage,
} from './accounts.ts';
import { adminRoutes } from './admin.ts';
import { createKey, deleteKey, listKeys } from './api-keys.ts';
import { getDocs, getOpenApi, getProblem, live, ready } from './health.ts';
import type { RouteContract } from './route.ts';
import { beginSecondFactor, confirmSecondFactor, removeSecondFactor, replaceRecoveryCodes } from './second-factor.ts';
import { endOtherSessions, endSession, listSessions } from './sessions.ts';
import { getJwks, getMetadata, issueTokens, refreshTokens, revokeTokens } from './tokens.ts';
import { forward, introspect, verify, verifyBatch } from './verification.ts';
import { webhookAdminRoutes } from './webhooks.ts';

export const allRoutes: readonly RouteContract[] = [
  issueTokens,
  refreshTokens,
  revokeTokens,
  createKey,
  listKeys,
  deleteKey,
  listSessions,
  endSession,
  endOtherSessions,
  beginSecondFactor,
  confirmSecondFactor,
  removeSecondFactor,
  replaceRecoveryCodes,
  signUp,
  verifyAccount,
  resendVerification,
  requestPasswordReset,
  confirmPasswordReset,
  acceptInvitation,
  getOwnAccount,
  changeLanguage,
  changePassword,
  changeEmail,
  confirmEmailChange,
  deleteAccount,
  ...adminRoutes,
  ...webhookAdminRoutes,
  forward,
  verify,
  verifyBatch,
  introspect,
  getJwks,
  getMetadata,
  verifyEmailPage,
  resetPasswordPage,
  changeEmailPage,
  acceptInvitationPage,
  live,
  ready,
  getOpenApi,
  getDocs,
  getProblem,
];
