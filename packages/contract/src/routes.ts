/** All routes of the public listener, in the order of the reference page. */
import {
  acceptEmail,
  acceptInvitation,
  changeEmail,
  changeLanguage,
  changePassword,
  confirmEmailChange,
  confirmPasswordReset,
  deleteAccount,
  getOwnAccount,
  requestPasswordReset,
  resendVerification,
  signUp,
  undoEmailChange,
  verifyAccount,
} from './accounts.ts';
import { getActivity } from './account-activity.ts';
import { exportAccount } from './account-export.ts';
import { adminRoutes } from './admin.ts';
import { changeKey, endPreviousSecret, getKey, rotateKey } from './api-key-changes.ts';
import { approvalRoutes } from './approvals.ts';
import { canaryKeyRoutes } from './canary-keys.ts';
import { consoleRoutes } from './console.ts';
import { createKey, deleteKey, listKeys } from './api-keys.ts';
import { registerPublicKey } from './public-key-registration.ts';
import { reportGithubLeaks } from './github-leaks.ts';
import { issuerAdminRoutes, issuerRoutes } from './issuers.ts';
import { getKeyTokens } from './key-tokens.ts';
import { getKeyUsage } from './key-usage.ts';
import { requestDeviceAuthorization, revokeToken } from './device-authorization.ts';
import { programAdminRoutes } from './programs.ts';
import { getOpenApi, getProblem, getRoot, live, ready } from './health.ts';
import { reportLeaks } from './leaks.ts';
import {
  acceptEmailPage,
  acceptInvitationPage,
  changeEmailPage,
  changePasswordPage,
  removeKeyPage,
  resetPasswordPage,
  undoEmailChangePage,
  verifyEmailPage,
} from './link-pages.ts';
import { portalKeyRoutes } from './portal-keys.ts';
import { portalSessionRoutes } from './portal-sessions.ts';
import type { RouteContract } from './route.ts';
import { listGrantableScopes, scopeAdminRoutes } from './scopes.ts';
import { serviceAccountAdminRoutes, serviceAccountRoutes } from './service-accounts.ts';
import { beginSecondFactor, confirmSecondFactor, removeSecondFactor, replaceRecoveryCodes } from './second-factor.ts';
import { serviceAccountKeyRoutes } from './service-account-keys.ts';
import { endOtherSessions, endSession, listSessions } from './sessions.ts';
import { singleSignOnRoutes } from './single-sign-on.ts';
import { exchangeAssertion } from './token-exchange.ts';
import { passkeyRoutes, signInWithPasskey } from './passkeys.ts';
import { getJwks, getMetadata, issueTokens, refreshTokens, revokeTokens } from './tokens.ts';
import { forward, introspect, verify, verifyBatch } from './verification.ts';
import { webhookDeliveryRoutes } from './webhook-deliveries.ts';
import { webhookAdminRoutes } from './webhooks.ts';

export const allRoutes: readonly RouteContract[] = [
  issueTokens,
  signInWithPasskey,
  refreshTokens,
  revokeTokens,
  createKey,
  registerPublicKey,
  listKeys,
  getKey,
  changeKey,
  rotateKey,
  endPreviousSecret,
  getKeyUsage,
  getKeyTokens,
  deleteKey,
  exchangeAssertion,
  requestDeviceAuthorization,
  revokeToken,
  ...approvalRoutes,
  listGrantableScopes,
  reportLeaks,
  ...serviceAccountRoutes,
  ...serviceAccountKeyRoutes,
  ...portalSessionRoutes,
  ...portalKeyRoutes,
  ...issuerRoutes,
  listSessions,
  endSession,
  endOtherSessions,
  beginSecondFactor,
  confirmSecondFactor,
  removeSecondFactor,
  replaceRecoveryCodes,
  ...passkeyRoutes,
  signUp,
  verifyAccount,
  resendVerification,
  requestPasswordReset,
  confirmPasswordReset,
  acceptInvitation,
  getOwnAccount,
  getActivity,
  exportAccount,
  changeLanguage,
  changePassword,
  changeEmail,
  confirmEmailChange,
  undoEmailChange,
  acceptEmail,
  deleteAccount,
  ...adminRoutes,
  ...serviceAccountAdminRoutes,
  ...scopeAdminRoutes,
  ...issuerAdminRoutes,
  ...programAdminRoutes,
  ...webhookAdminRoutes,
  ...webhookDeliveryRoutes,
  ...consoleRoutes,
  ...singleSignOnRoutes,
  reportGithubLeaks,
  forward,
  verify,
  verifyBatch,
  introspect,
  ...canaryKeyRoutes,
  getJwks,
  getMetadata,
  verifyEmailPage,
  resetPasswordPage,
  changeEmailPage,
  undoEmailChangePage,
  acceptEmailPage,
  acceptInvitationPage,
  removeKeyPage,
  changePasswordPage,
  live,
  ready,
  getOpenApi,
  getProblem,
  getRoot,
];
