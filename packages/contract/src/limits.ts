/**
 * The fixed bounds that a caller or an operator can reach, by subject: the value, its unit (in the name) and its meaning.
 * `npm run docs` writes `docs/limits.md` from these tables. The operator's settings are in the server's `settings.ts`.
 */
import { canaryLimits } from './canary-limits.ts';
import { consoleLimits } from './console-limits.ts';
import { deliveryLimits } from './delivery-limits.ts';
import { exchangeLimits } from './exchange-limits.ts';
import { importLimits } from './import-limits.ts';
import { issuerLimits } from './issuer-limits.ts';
import { leakLimits } from './leak-limits.ts';
import { verificationLimits } from './verification-limits.ts';
import { passkeyLimits } from './passkey-limits.ts';
import { portalLimits } from './portal-limits.ts';
import { postgresLimits } from './postgres-limits.ts';
import { programLimits } from './program-limits.ts';
import { limit, type Limits } from './limit-definition.ts';
import { authorizationChars, credentialsPerBatch, requestLimits } from './request-limits.ts';

const credentials = {
  authorizationCharsMax: limit(authorizationChars, 'The `Authorization` header.'),
  basicCharsMax: limit(2_048, 'The base64 part of a Basic credential.'),
  // 256 with the angle brackets.
  emailCharsMax: limit(254, 'An email address (RFC 5321 section 4.5.3.1.3).'),
  passwordBytesMax: limit(1_024, 'A password in UTF-8. It is never truncated.', 'password_too_long'),
  passwordLengthFloor: limit(8, 'Code points; the lowest `KEYREEVE_PASSWORD_LENGTH_MIN`.'),
  credentialsPerBatchMax: limit(
    credentialsPerBatch,
    'Credentials in one `POST /auth/verify/batch`.',
    'invalid_request',
  ),
  nicknameCodePointsMax: limit(64, 'A key’s nickname, in NFC.', 'nickname_invalid'),
  // 768 when percent-encoded in a header.
  nicknameBytesMax: limit(256, 'A nickname in UTF-8.', 'nickname_invalid'),
  // X-Keyreeve-Scopes stays below 2.1 KiB.
  scopesPerKeyMax: limit(32, 'Scopes of one key.', 'scope_invalid'),
  scopeCharsMax: limit(64, 'One scope (RFC 6749 section 3.3).', 'scope_invalid'),
  environmentsMax: limit(8, 'Environments in `KEYREEVE_ENVIRONMENTS`.'),
  environmentCharsMax: limit(16, 'The name of an environment.'),
  // Each verification of a key with scopes looks up at most 32 of them.
  catalogueScopesMax: limit(1_000, 'Scopes in the catalogue, deleted ones included.', 'catalogue_full'),
  scopeDescriptionCharsMax: limit(256, 'The description of a scope.'),
  entitlementsPerAccountMax: limit(100, 'Entitlements of one account.', 'invalid_request'),
  // With 32 ranges a verification compares at most 32 prefixes.
  addressesPerKeyMax: limit(32, 'IP addresses and ranges of one key.', 'invalid_request'),
  cidrCharsMax: limit(64, 'One IP address or range.'),
  keyMetadataBytesMax: limit(1_024, 'Metadata of a key, as JSON in UTF-8.', 'invalid_request'),
  keyRateMax: limit(1_000_000, 'Tokens of a rate limit of a key or account, and its burst.'),
  keyRateWindowSecondsMax: limit(86_400, 'Longest window of a rate limit: a day.'),
  keyQuotaMax: limit(10 ** 12, 'Tokens of a quota of a key or account.'),
  costMax: limit(10_000, 'Cost of one verification, in tokens.', 'invalid_request'),
  rotationOverlapSeconds: limit(86_400, 'Overlap of a rotation, if the request sets no other.'),
  rotationOverlapSecondsMax: limit(2_592_000, 'Longest overlap of a rotation: 30 days.', 'invalid_request'),
  endedSecretKeptDays: limit(
    30,
    'Days for which an ended previous secret is refused as `expired`. Later: as `not_found`.',
  ),
  shortLivedSecretSeconds: limit(600, 'Longest lifetime of a short-lived secret.'),
  shortLivedSecretsMax: limit(20, 'Valid short-lived secrets of a key with a public key. One more ends the oldest.'),
  // Longer than any assertion and any short-lived secret is valid.
  shortLivedSecretKeptSeconds: limit(
    900,
    'Age until which an ended short-lived secret is refused as `expired`, then as `not_found`.',
  ),
  assertionSecondsMax: limit(120, 'Lifetime of an assertion: `exp` − `iat`.'),
  assertionSkewSeconds: limit(60, 'Difference of `iat` of an assertion from the server’s time.'),
  assertionIdCharsMin: limit(16, 'The claim `jti` of an assertion: the shortest.'),
  assertionIdCharsMax: limit(128, 'The claim `jti` of an assertion: the longest.'),
  exchangeBodyBytesMax: limit(24_576, 'Body of `POST /auth/oauth/token`. More: 413.'),
  exchangesPerMinuteMax: limit(120, 'Assertions that one key exchanges in a minute.', 'too_many_exchanges'),
  unusedKeysPerHourMax: limit(1_000, 'Unused keys that are disabled in an hour. More: in the next hours.'),
  // Each writes an audit event, which is never deleted.
  keyChangesPerMinuteMax: limit(
    300,
    'Changes and rotations of keys per account in a minute, except disabling.',
    'too_many_changes',
  ),
  firstExpiryNoticeDays: limit(14, 'Days from the first expiry notice of a key to its expiry.'),
  lastExpiryNoticeDays: limit(3, 'Days from the second expiry notice of a key to its expiry.'),
  // An account may have many keys that expire on the same day.
  expiryNoticeKeysMax: limit(20, 'Keys that one mail about expiring keys lists.'),
  keyMailsPerHourMax: limit(
    20,
    'Mails to an account in an hour about keys of others; as many about keys of programs, about leaked keys, and about ended leaked secrets. More: not sent.',
  ),
  leakNoticeKeysMax: limit(20, 'Keys in each list of one mail about leaked secrets.'),
  keyMailServiceAccountsMax: limit(100, 'Own service accounts that a person gets mail about. More: no mail.'),
  clockSkewSeconds: limit(30, 'Tolerated clock difference between instances.'),
  // So a session causes at most one write in this time. No client needs more: an access token lives for at least 30 s.
  refreshReuseSeconds: limit(5, 'A refresh within this time returns the same refresh token, with a new access token.'),
  // About 2 MiB.
  unansweredRefreshesMax: limit(
    10_000,
    'Refreshes with an unknown outcome per process. More: only `KEYREEVE_REFRESH_GRACE_SECONDS` applies.',
  ),
  // Clients that wait between retries return within minutes.
  unansweredRefreshSeconds: limit(600, 'Time after an outage in which such a refresh can be retried.'),
  jwksMaxAgeSeconds: limit(300, 'Cache lifetime of the public keys.'),
  // Twice the caching time.
  signingKeyLeadSeconds: limit(600, 'A signing key is published this long before use.'),
} as const satisfies Limits;

const signIns = {
  hashQueueMax: limit(64, 'Waiting password checks. More: 503, before hashing.'),
  hashWaitMsMax: limit(1_500, 'Expected wait of a password check. Longer: 503, before hashing.'),
  // Untrusted ranges get at most three quarters of these, and one range at most as many as remain free.
  signInsUnderWayMax: limit(72, 'Password checks in progress.', 'overloaded'),
  passwordChecksPerEmailMax: limit(
    2,
    'Password checks in progress per email address; untrusted ranges count separately.',
    'too_many_attempts',
  ),
  signInPairFreeFailures: limit(5, 'Failed sign-ins per email address and untrusted range before delays begin.'),
  signInPairDelaySecondsFirst: limit(1, 'First delay after failed sign-ins. Each further failure doubles it.'),
  signInPairDelaySecondsMax: limit(900, 'Longest delay after failed sign-ins.'),
  signInPairWindowSeconds: limit(86_400, 'Window of failed sign-ins per email address and untrusted range.'),
  // Another client behind the same NAT must continue ten failures a minute to lock the owner out there.
  signInTrustedPairFailuresMax: limit(10, 'Failed sign-ins per email address and trusted range, without delays.'),
  signInTrustedPairWindowSeconds: limit(60, 'Window of failed sign-ins per email address and trusted range.'),
  // Each costs a password hash and a commit; a script that needs more should use an API key.
  signInsPerMinuteMax: limit(60, 'Successful sign-ins per account in a minute.', 'too_many_attempts'),
  signInEmailFailuresMax: limit(100, 'Failed sign-ins per email address from untrusted ranges (NIST SP 800-63B).'),
  signInEmailLeakSeconds: limit(36, 'Failed sign-ins per email address decrease by one at this interval.'),
  signInOriginTrustDays: limit(30, 'A range stays trusted this long after a sign-in.'),
  signInRangeFailuresMax: limit(100, 'Failed sign-ins from one range.'),
  // A single customer may have a /48, so the bound is four times as high.
  signInNetworkFailuresMax: limit(400, 'Failed sign-ins from one IPv6 /48.'),
  signInGlobalFailuresMax: limit(3_000, 'Failed sign-ins from all untrusted ranges.'),
  signInTrustedFailuresFactor: limit(10, 'Trusted ranges have this many times the bounds of a range and a /48.'),
  signInWindowSeconds: limit(900, 'Window of failed sign-ins per range, per /48 and in total.'),
  // Each writes an audit event, which is never deleted.
  languageChangesPerHourMax: limit(20, 'Language changes per account in an hour.', 'too_many_requests'),
  // Each costs a hash, a mail and audit events.
  passwordChangesPerHourMax: limit(20, 'Password changes per account in an hour.', 'too_many_requests'),
  managedCreationsPerHourMax: limit(
    30_000,
    'Service accounts, keys and rotations by management keys of one account in an hour.',
    'too_many_creations',
  ),
  // Each writes an audit event, which is never deleted.
  managedChangesPerHourMax: limit(
    30_000,
    'Changes by the management keys of one account in an hour, except disabling.',
    'too_many_changes',
  ),
  leakReportsPerHourMax: limit(
    60,
    'Reports of leaked secrets (`POST /auth/leaks`) per client IP range and process in an hour.',
    'too_many_requests',
  ),
  leakReportsPerNetworkMax: limit(
    240,
    'Reports of leaked secrets per /48 of IPv6 or /24 of IPv4 in an hour. More: 429.',
  ),
  leakReportRangesMax: limit(10_000, 'Client IP ranges and networks with counted reports, per process.'),
  leakReportsInProgressMax: limit(
    2,
    'Reports of leaked secrets in progress in one process, and 1 per client IP range.',
    'too_many_in_progress',
  ),
  reportedKeysMax: limit(100, 'Secrets in one report of leaked secrets.', 'invalid_request'),
  reportedKeyCharsMax: limit(512, 'Characters of one reported secret.'),
  creationWindowSeconds: limit(60, 'Window of `KEYREEVE_CREATIONS_PER_MINUTE_MAX`.'),
  rateLimitForgetDays: limit(30, 'An unchanged counter is deleted after this time.'),
} as const satisfies Limits;

const accounts = {
  recentSignInSeconds: limit(
    300,
    'Age of the sign-in that sensitive operations require (ASVS 7.5.1).',
    'reauth_required',
  ),
  secondFactorFreeFailures: limit(
    5,
    'Wrong second-factor codes or current passwords before delays begin.',
    'too_many_attempts',
  ),
  secondFactorFailuresMax: limit(
    100,
    'Wrong second-factor codes or current passwords in a row. Then only a recovery code, an operator or, for passwords, a new sign-in helps.',
    'too_many_attempts',
  ),
  secondFactorEnrolmentSeconds: limit(600, 'Time to confirm a new second factor.'),
  // Each has 120 random bits.
  recoveryCodesMax: limit(10, 'Recovery codes of an account.'),
  oneTimePasswordCharsMax: limit(64, 'A second-factor code.'),
  suspiciousFailures: limit(5, 'Failed sign-ins in a row before a mail about the next success (ASVS 6.3.5).'),
  addressCharsMax: limit(64, 'Stored client IP of a session.'),
  programCharsMax: limit(256, 'Stored user agent of a session.'),
  // Also the time in which the mail of a sign-up can be requested again.
  codeRequestSeconds: limit(86_400, 'Time to hand over a requested mail with a link; later, it is not sent.'),
  // The first link is valid for a day; in the remaining time the owner can sign up again with the same account.
  signUpKeptDays: limit(7, 'Age at which an unverified sign-up without a valid link is deleted.'),
  emailChangeCodeSeconds: limit(3_600, 'Validity of an email-change link.'),
  emailUndoSuspectDays: limit(7, 'Days before an email change whose new credentials the undo removes.'),
  // A week, because an owner on holiday reads mail late.
  emailUndoSeconds: limit(604_800, 'Time for the previous email address to undo a change.'),
  emailChangeKeptDays: limit(30, 'Time for an administrator to restore the previous email address.'),
  serviceAccountsPerPersonMax: limit(
    100,
    'Service accounts that a person has created.',
    'service_account_limit_reached',
  ),
  // A creation counts those of the account, and its deletion changes their rows in one statement, within the time of one.
  serviceAccountsPerBackendMax: limit(
    20_000,
    'Service accounts of one account, checked when a management key creates one.',
    'service_account_limit_reached',
  ),
  // A mail about a key goes to each of them.
  managersPerServiceAccountMax: limit(20, 'Managers of a service account.', 'manager_limit_reached'),
  managementKeyDaysMax: limit(
    366,
    'Days until a management key expires that an administrator creates.',
    'invalid_request',
  ),
  managementKeyIpv4BitsMin: limit(8, 'The shortest prefix of an IPv4 range of such a key.', 'invalid_request'),
  managementKeyIpv6BitsMin: limit(32, 'The shortest prefix of an IPv6 range of such a key.', 'invalid_request'),
  provenCreationsPerHourMax: limit(
    20,
    'Management keys and keys of other persons that an administrator creates in an hour.',
    'too_many_creations',
  ),
  administratorMailsMax: limit(100, 'Administrators who get the mail about another’s new management key.'),
  externalIdCharsMax: limit(128, 'The external id of a service account.'),
  // Each stores an email address, and none replaces an older one.
  emailChangesMax: limit(10, 'Email changes of an account in 30 days.', 'too_many_requests'),
  // Only the holder of the code can use this up.
  codeTriesMax: limit(
    10,
    'Rejected passwords or email addresses in an hour with a valid one-time code.',
    'too_many_requests',
  ),
  // Counted separately, so that other clients cannot use up the owner's.
  resetsPerEmailMax: limit(
    3,
    'Resets per email address in an hour from untrusted ranges, and from each trusted one.',
    'too_many_requests',
  ),
  signUpsPerEmailMax: limit(
    5,
    'Sign-ups, repeated mails and email changes per email address in an hour.',
    'too_many_requests',
  ),
  mailRequestsPerAddressMax: limit(
    30,
    'Resets, sign-ups, repeated mails and email changes from one range in an hour.',
    'too_many_requests',
  ),
  mailRequestsPerNetworkMax: limit(120, 'The same from one IPv6 /48.', 'too_many_requests'),
  mailRequestWindowSeconds: limit(3_600, 'Window of mail requests per email address, range and network.'),
  // Protects the reputation of the mail server; enough for a launch with more than one sign-up a second.
  mailRequestsGlobalMax: limit(
    1_000,
    'The same in total in 15 minutes, except resets from trusted ranges.',
    'too_many_requests',
  ),
  // Short, because new users wait while the count is exhausted.
  mailRequestsGlobalWindowSeconds: limit(900, 'Window of mail requests in total.'),
  accountExistsMailsMax: limit(3, 'Mails in a day that report a repeated sign-up.'),
} as const satisfies Limits;

const queues = {
  lastUsedResolutionSeconds: limit(60, 'Interval between writes of a key’s `lastUsedAt`.'),
  usageRowsFlushedMax: limit(50_000, 'Waiting keys per hour that are written before 10 s have passed.'),
  usageRowsPendingMax: limit(
    200_000,
    'Keys per hour whose counts and last use wait. More: their verifications count as `uncounted`, for no key.',
  ),
  quotaNoticesWaitingMax: limit(
    20_000,
    'Used-up quotas whose audit events wait; 1,000 are written every 10 s. More: not recorded.',
  ),
  ...verificationLimits,
  requestStartsPerTurnMax: limit(1, 'Requests except verifications per event-loop turn.'),
  expensiveReadsMax: limit(4, 'Lists of keys, activity and usage read at once, per process. Others wait.'),
  expensiveReadsPerAccountMax: limit(2, 'The same for one account.'),
  rejectionsPerTurnMax: limit(16, 'Rejections without a read per event-loop turn. Others wait.'),
  writesWaitingMax: limit(
    1_000,
    'Waiting writes. More: the newest write of the account or range with the most gets 429; if that is the caller, it gets 503.',
  ),
  writesWaitingPerOwnerMax: limit(256, 'Waiting writes of one account or range.', 'too_many_in_progress'),
  writeWaitMsMax: limit(5_000, 'Wait of a write. Nothing was changed.', 'unavailable'),
  requestsPerCredentialMax: limit(
    128,
    'Requests in progress per token or management key, except verifications; those that remove rights count separately.',
    'too_many_in_progress',
  ),
  requestsPerAccountMax: limit(
    256,
    'Requests in progress per account, except verifications; those that remove rights count separately.',
    'too_many_in_progress',
  ),
  requestsPerRangeMax: limit(
    512,
    'Requests in progress per range, except verifications; those that remove rights count separately.',
    'too_many_in_progress',
  ),
  removalsPerAccountMax: limit(
    32,
    'Removals of rights of an account in progress, per process. Others wait, up to the bounds of other requests; sessions and keys take turns.',
  ),
  // A client that ignores Retry-After sends one request a second on each connection.
  refusalHoldMs: limit(1_000, 'Delay of a 429 `too_many_in_progress`.'),
  unfinishedDeletionsMax: limit(1_000, 'Unfinished deletions with an unknown outcome. More: 503, before any change.'),
} as const satisfies Limits;

const operations = {
  adminPageMax: limit(100, 'Rows of one page of `/admin`, `/auth/api-keys` or `/auth/account/activity`.'),
  exportsPerAccountMax: limit(2, 'Exports in progress of one account, per process.', 'too_many_in_progress'),
  exportsPerProcessMax: limit(
    64,
    'Exports in progress, per process; administrators’ count separately. More: the one that waits longest for its client is reset.',
  ),
  exportReadsMax: limit(4, 'Exports that read at once, per process. Others wait.'),
  exportSecondsMax: limit(300, 'Duration of an export, which is then incomplete.', 'the connection is reset'),
  accountExportsPerHourMax: limit(6, 'Exports of its data by an account in an hour.', 'too_many_requests'),
  exportedActivityMax: limit(50_000, 'Events in the export of an account.'),
  activityDays: limit(90, 'Days of activity that an owner can read.'),
  // On SQLite, the process answers no other request meanwhile.
  adminRowsPerPageMax: limit(5_000, 'Rows read for one page of `/admin`.'),
  // On SQLite in parts of 500, between which the process answers other requests.
  countedEntriesMax: limit(10_000, 'Entries that the total of a list counts. More: `isExact` is false.'),
  // In one URL, also with the path of the console.
  accountIdsMax: limit(50, 'Ids in one request for accounts.', 'invalid_request'),
  overviewEventsMax: limit(20, 'Audit events in the overview.'),
  overviewKeptDays: limit(2, 'Days for which counts by minute are kept.'),
  usageRowsMax: limit(400, 'Hours or days of one request for the usage of a key.', 'invalid_request'),
  // Complete days are added up, so up to 24 hours more are stored.
  usageHoursKeptDays: limit(8, 'Days for which the usage of a key is kept by hour.'),
  firstAdministratorCodeSeconds: limit(3_600, 'Validity of a `keyreeve admin bootstrap` code.'),
} as const satisfies Limits;

/** By the headings of the page, in its order. */
export const limitGroups = {
  'Requests and connections': requestLimits,
  'Credentials, keys and tokens': { ...credentials, ...exchangeLimits },
  'Sign-ins': signIns,
  Accounts: accounts,
  'Issuers of identity tokens': issuerLimits,
  'Programs and approvals': programLimits,
  'The key page': portalLimits,
  'Queues of a process': queues,
  'Leaks, revocation check, passkeys and webhooks': {
    ...leakLimits,
    ...canaryLimits,
    ...passkeyLimits,
    ...deliveryLimits,
  },
  'Console, import and administration': { ...consoleLimits, ...importLimits, ...operations },
  PostgreSQL: postgresLimits,
} as const;

/** All of them, for documentation. Code reads {@link limits}. */
export const limitTable = {
  ...requestLimits,
  ...credentials,
  ...exchangeLimits,
  ...signIns,
  ...accounts,
  ...queues,
  ...issuerLimits,
  ...programLimits,
  ...portalLimits,
  ...consoleLimits,
  ...leakLimits,
  ...canaryLimits,
  ...passkeyLimits,
  ...deliveryLimits,
  ...importLimits,
  ...operations,
  ...postgresLimits,
} as const;

type LimitValues = { readonly [Name in keyof typeof limitTable]: number };

/** The bare numbers: `limits.bodyBytesMax`. */
export const limits = Object.fromEntries(
  Object.entries(limitTable).map(([name, { value }]) => [name, value]),
) as LimitValues;
