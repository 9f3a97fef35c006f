/**
 * The names of schemas in the OpenAPI document, which become the names of types in generated clients. Each schema with
 * members that a body or a response contains needs a name here; schemas with equal JSON share one.
 */
import type { TSchema } from 'typebox';
import * as accountActivity from './account-activity.ts';
import * as accountExport from './account-export.ts';
import * as accounts from './accounts.ts';
import * as adminKeyList from './admin-key-list.ts';
import * as adminMail from './admin-mail.ts';
import * as adminSettings from './admin-settings.ts';
import * as overview from './admin-overview.ts';
import * as adminSigningKeys from './admin-signing-keys.ts';
import * as administration from './admin-schemas.ts';
import * as keyChanges from './api-key-changes.ts';
import * as apiKeyList from './api-key-list.ts';
import * as apiKeys from './api-keys.ts';
import * as canaryKeys from './canary-keys.ts';
import * as consoleSession from './console.ts';
import * as keyLimits from './key-limits.ts';
import * as githubLeaks from './github-leaks.ts';
import * as health from './health.ts';
import * as keyUsage from './key-usage.ts';
import * as publicKeys from './public-key-registration.ts';
import * as jwk from './jwk.ts';
import * as leaks from './leaks.ts';
import * as passkeyMessages from './passkey-messages.ts';
import * as passkeys from './passkeys.ts';
import * as schemas from './schemas.ts';
import * as scopes from './scopes.ts';
import * as secondFactor from './second-factor.ts';
import * as serviceAccounts from './service-accounts.ts';
import * as serviceAccountKeys from './service-account-keys.ts';
import * as sessions from './sessions.ts';
import * as singleSignOn from './single-sign-on.ts';
import * as tokenExchange from './token-exchange.ts';
import * as tokens from './tokens.ts';
import * as verification from './verification.ts';
import * as deliveries from './webhook-deliveries.ts';
import * as events from './webhook-events.ts';
import * as webhooks from './webhooks.ts';

/** The server rejects unknown members of these. */
export const requestSchemas: Readonly<Record<string, TSchema>> = {
  RefreshTokenRequest: tokens.RefreshTokenBody,
  KeyLimits: keyLimits.KeyLimits,
  RateLimit: keyLimits.RateLimit,
  Quota: keyLimits.Quota,
  NewApiKey: apiKeys.NewKeyBody,
  NewServiceAccountKey: serviceAccountKeys.NewServiceAccountKeyBody,
  NewPublicKey: publicKeys.NewPublicKeyBody,
  ApiKeyChange: keyChanges.KeyChangeBody,
  ApiKeyRotation: keyChanges.RotationBody,
  LeakReport: leaks.LeaksBody,
  PasswordConfirmation: secondFactor.CurrentPasswordBody,
  SecondFactorProof: secondFactor.FactorProofBody,
  SecondFactorCode: secondFactor.FactorCodeBody,
  NewPasskey: passkeys.NewPasskeyBody,
  PasskeyName: passkeys.PasskeyNameBody,
  PasskeySignIn: passkeys.PasskeySignInBody,
  PasskeyRegistrationResponse: passkeyMessages.RegistrationResponse,
  PasskeyAttestation: passkeyMessages.AttestationMessage,
  PasskeyAuthenticationResponse: passkeyMessages.AuthenticationResponse,
  PasskeyAssertion: passkeyMessages.AssertionMessage,
  SignUp: accounts.SignUpBody,
  EmailRequest: accounts.EmailBody,
  EmailConfirmation: accounts.CodeAndPasswordBody,
  PasswordReset: accounts.ResetBody,
  InvitationAcceptance: accounts.InvitationBody,
  LanguageChange: accounts.LanguageBody,
  PasswordChange: accounts.ChangePasswordBody,
  EmailChange: accounts.ChangeEmailBody,
  EmailAcceptance: accounts.AcceptEmailBody,
  EmailChangeUndo: accounts.UndoEmailChangeBody,
  CompromisedReport: administration.CompromisedBody,
  Invitation: administration.InvitationRequest,
  ApiKeyRestriction: administration.KeyRestrictionBody,
  ScopeDeclaration: scopes.ScopeBody,
  Entitlements: scopes.EntitlementsBody,
  NewServiceAccount: serviceAccounts.NewServiceAccountBody,
  ServiceAccountChange: serviceAccounts.ServiceAccountChangeBody,
  ApiKeySearch: adminKeyList.FindKeyBody,
  SigningKeyRotation: adminSigningKeys.SigningKeyRotation,
  RoleChange: administration.RoleBody,
  FirstAdministrator: administration.FirstAdministratorBody,
  ConsoleSignIn: consoleSession.ConsoleSignInBody,
  ConsoleConfirmation: consoleSession.ConsoleConfirmationBody,
  NewWebhook: webhooks.NewWebhookBody,
  WebhookReplay: deliveries.ReplayBody,
  GithubSecretMatch: githubLeaks.GithubMatch,
  GithubSecretMatches: githubLeaks.GithubMatches,
  VerificationRequest: verification.VerifyBody,
  VerificationBatchRequest: verification.VerifyBatchBody,
  IntrospectionRequest: verification.IntrospectBody,
  AssertionExchange: tokenExchange.ExchangeBody,
  SingleSignOn: singleSignOn.SingleSignOnBody,
  BackChannelLogout: singleSignOn.LogoutBody,
};

/** A later version may add members to these, so the document does not forbid unknown ones. */
export const responseSchemas: Readonly<Record<string, TSchema>> = {
  TokenPair: tokens.TokenPair,
  SingleSignOnStart: singleSignOn.SingleSignOnStart,
  ShortLivedSecret: tokenExchange.ExchangedSecret,
  OAuthError: tokenExchange.OAuthError,
  CreatedApiKey: apiKeys.CreatedKey,
  ApiKey: apiKeys.ListedKey,
  ApiKeyDetails: apiKeys.ListedKeyFull,
  ApiKeyList: apiKeys.KeyList,
  ApiKeyRecentUsage: apiKeyList.RecentUsage,
  ApiKeyWithRestrictions: keyChanges.KeyDetails,
  PublicKey: jwk.PublicKey,
  PreviousSecret: keyChanges.PreviousSecret,
  RotatedApiKey: keyChanges.RotatedKey,
  QuotaUse: keyLimits.QuotaUse,
  ApiKeyUsageEntry: keyUsage.UsageEntry,
  ApiKeyUsage: keyUsage.KeyUsage,
  CreatedServiceAccountKey: serviceAccountKeys.CreatedServiceAccountKey,
  CreatedCanaryKey: canaryKeys.CreatedCanaryKey,
  CanaryKey: canaryKeys.CanaryKey,
  CanaryCredential: canaryKeys.CanaryCredential,
  CanaryInstance: canaryKeys.CanaryInstance,
  CanaryKeyList: canaryKeys.CanaryKeyList,
  ServiceAccountLimits: serviceAccountKeys.ServiceAccountLimits,
  ServiceAccountEntitlements: serviceAccountKeys.ServiceAccountEntitlements,
  GrantableScope: scopes.GrantableScope,
  GrantableScopeList: scopes.GrantableScopes,
  DeclaredScope: scopes.DeclaredScope,
  DeclaredScopeList: scopes.ScopeList,
  ServiceAccount: serviceAccounts.ServiceAccount,
  ServiceAccountPage: serviceAccounts.ServiceAccountPage,
  Manager: serviceAccounts.Manager,
  ManagerList: serviceAccounts.ManagerList,
  Message: schemas.Message,
  Session: sessions.ListedSession,
  SessionList: sessions.SessionList,
  EndedSessions: sessions.EndedSessions,
  NewSecondFactor: secondFactor.BegunFactor,
  RecoveryCodes: secondFactor.RecoveryCodes,
  Passkey: passkeys.Passkey,
  PasskeyList: passkeys.PasskeyList,
  AddedPasskey: passkeys.AddedPasskey,
  PasskeyCreationOptions: passkeyMessages.CreationOptions,
  PasskeyRequestOptions: passkeyMessages.RequestOptions,
  PasskeyDescriptor: passkeyMessages.CredentialDescriptor,
  PasskeyRelyingParty: passkeyMessages.RelyingPartyName,
  PasskeyUser: passkeyMessages.PasskeyUser,
  PasskeyParameters: passkeyMessages.CredentialParameters,
  PasskeyAuthenticatorSelection: passkeyMessages.AuthenticatorSelection,
  RemainingApiKeys: accounts.MessageAndKeys,
  RemainingPasskey: accounts.RemainingPasskey,
  RemainingSecondFactors: accounts.RemainingFactors,
  RemainingCredentials: accounts.MessageAndCredentials,
  Account: accounts.OwnAccount,
  AccountActivityEvent: accountActivity.ActivityEvent,
  AccountExport: accountExport.AccountExport,
  LinkedIdentity: accountExport.LinkedIdentity,
  AccountActivity: accountActivity.ActivityPage,
  AccountSummary: administration.AdministeredAccount,
  AccountDetails: administration.AccountDetail,
  PreviousEmail: administration.PreviousEmail,
  AccountPage: administration.AccountPage,
  ApiKeyDetailsList: administration.AdministeredKeys,
  OwnedApiKey: adminKeyList.OwnedKey,
  FoundApiKey: adminKeyList.FoundKey,
  ApiKeyOwner: adminKeyList.KeyOwner,
  OwnedApiKeyPage: adminKeyList.OwnedKeyPage,
  SigningKey: adminSigningKeys.SigningKey,
  SigningKeyList: adminSigningKeys.SigningKeyList,
  OutboxKind: adminMail.OutboxKind,
  OutboxJob: adminMail.OutboxJob,
  OutboxPage: adminMail.OutboxPage,
  MailTestResult: adminMail.MailTestResult,
  Setting: adminSettings.SettingInForce,
  InstallationCheck: adminSettings.InstallationCheck,
  Settings: adminSettings.SettingsInForce,
  AuditEvent: administration.AuditEvent,
  AuditPage: administration.AuditPage,
  Attention: overview.Attention,
  Instance: overview.Instance,
  Overview: overview.Overview,
  OverviewMinute: overview.OverviewMinute,
  PasswordHashing: overview.Hashing,
  Quantiles: overview.Quantiles,
  ResultCount: overview.ResultCount,
  WaitingJobs: overview.WaitingJobs,
  ConsoleConfig: consoleSession.ConsoleConfig,
  ConsoleFeatures: consoleSession.ConsoleFeatures,
  ConsoleAccount: consoleSession.ConsoleAccount,
  ConsoleSession: consoleSession.ConsoleSession,
  ConsoleSessionView: consoleSession.SessionView,
  CreatedAdministrator: administration.FirstAdministrator,
  Webhook: webhooks.Webhook,
  WebhookList: webhooks.WebhookList,
  CreatedWebhook: webhooks.CreatedWebhook,
  WebhookSecret: webhooks.RotatedWebhookSecret,
  WebhookTestResult: webhooks.WebhookTest,
  WebhookAttempt: deliveries.DeliveryAttempt,
  WebhookDelivery: deliveries.WebhookDelivery,
  WebhookDeliveryState: deliveries.DeliveryState,
  WebhookDeliveryList: deliveries.WebhookDeliveryPage,
  WebhookReplayResult: deliveries.ReplayedDeliveries,
  ValidCredential: verification.AcceptedCredential,
  InvalidCredential: verification.RefusedCredential,
  UnknownCredential: verification.UnknownCredential,
  RemainingLimit: verification.RemainingLimit,
  VerificationResult: verification.VerifyResult,
  VerificationBatchItem: verification.BatchResult,
  VerificationBatchResult: verification.VerifyBatchResult,
  Introspection: verification.Introspection,
  JsonWebKey: tokens.Jwk,
  JsonWebKeySet: tokens.Jwks,
  ServerMetadata: tokens.Metadata,
  Health: health.Health,
  ServiceInfo: health.ServiceInfo,
  Readiness: health.Readiness,
  Problem: schemas.Problem,
  FieldProblem: schemas.FieldProblem,
  AccountEvent: events.AccountEvent,
  AccountEventData: events.AccountEventData,
  ApiKeyEvent: events.KeyEvent,
  ApiKeyEventData: events.KeyEventData,
  CreatedApiKeyEvent: events.CreatedKeyEvent,
  CreatedApiKeyEventData: events.CreatedKeyEventData,
  GithubSecretLabel: githubLeaks.GithubLabel,
  GithubSecretLabels: githubLeaks.GithubLabels,
  DisabledApiKeyEvent: events.DisabledKeyEvent,
  DisabledApiKeyEventData: events.DisabledKeyEventData,
  ExpiringApiKeyEvent: events.ExpiringKeyEvent,
  ExpiringApiKeyEventData: events.ExpiringKeyEventData,
  LeakedApiKeyEvent: events.LeakedKeyEvent,
  LeakedApiKeyEventData: events.LeakedKeyEventData,
  RotatedApiKeyEvent: events.RotatedKeyEvent,
  RotatedApiKeyEventData: events.RotatedKeyEventData,
  AccountQuotaEvent: events.AccountQuotaEvent,
  AccountQuotaEventData: events.AccountQuotaEventData,
  ApiKeyQuotaEvent: events.KeyQuotaEvent,
  ApiKeyQuotaEventData: events.KeyQuotaEventData,
  DisabledReason: apiKeys.DisabledReasonName,
  ServiceAccountManagerEvent: events.ManagerEvent,
  ServiceAccountManagerEventData: events.ManagerEventData,
  ScopeEvent: events.ScopeEvent,
  ScopeEventData: events.ScopeEventData,
  SessionEvent: events.SessionEvent,
  SessionEventData: events.SessionEventData,
  WebhookTestEvent: events.TestEvent,
  WebhookTestEventData: events.TestEventData,
};

/** Values without members, in requests and responses. */
export const valueSchemas: Readonly<Record<string, TSchema>> = {
  ApiKeyId: schemas.KeyId,
  ApiKeyScopes: apiKeys.NewKeyBody.properties.scopes,
  ApiKeyAddresses: apiKeys.NewKeyBody.properties.addresses,
  ApiKeyExpiry: apiKeys.NewKeyBody.properties.expiresAt,
  ApiKeyMetadata: apiKeys.NewKeyBody.properties.metadata,
  Role: schemas.Role,
  SecondFactorMethod: schemas.SecondFactorMethod,
  CredentialType: verification.CredentialType,
  VerificationRefusal: verification.Refusals,
  WebhookEventType: webhooks.WebhookEventType,
  ErrorCode: schemas.ErrorCodes,
};
