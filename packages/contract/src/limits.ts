/**
 * The fixed bounds that a caller or an operator can reach, in one table: the meaning of each, its unit (in the name) and
 * the reason for its value. `docs/limits.md` is tested against this table. Settings of the operator are in the server's
 * `config.ts`.
 */

interface Limit {
  readonly value: number;
  readonly why: string;
}

const limit = (value: number, why: string): Limit => ({ value, why });

const authorizationChars = 4_096;
const credentialsPerBatch = 256;
const batchItemBytes = 8;
const batchFrameBytes = 64;
const batchBodyBytes = credentialsPerBatch * (authorizationChars + batchItemBytes) + batchFrameBytes;

/** The table itself, for documentation. Code reads {@link limits}. */
export const limitTable = {
  // Size and time of a request (SECURITY.md: limits on input)
  headerBytesMax: limit(16_384, 'All header lines of a request together; more is answered 431.'),
  headerFieldsMax: limit(100, 'Header fields of a request; more is answered 431, none is silently dropped.'),
  urlCharsMax: limit(
    2_048,
    'Request target; more is answered 414. For /auth/forward only the bound of the headers applies.',
  ),
  preferenceCharsMax: limit(
    1_024,
    'A header Accept or Accept-Language; a longer one expresses no preference. Parsing one takes time that grows with the square of its length.',
  ),
  bodyBytesMax: limit(16_384, 'Request body; more is answered 413.'),
  batchBodyBytesMax: limit(
    batchBodyBytes,
    `Body of POST /auth/verify/batch; more is answered 413. It is what ${credentialsPerBatch} credentials of the greatest length need, with ${batchItemBytes} bytes each for quotes, comma and indentation, and ${batchFrameBytes} for the object around them.`,
  ),
  validationErrorsMax: limit(
    20,
    'Errors that a response lists. The search then ends, so that no body costs more than three times its parsing.',
  ),
  errorNameCharsMax: limit(64, 'Characters of a field’s name in an error; names come from the client.'),
  jsonDepthMax: limit(8, 'Nesting of a JSON body; deeper is answered 400.'),
  headersTimeoutMs: limit(10_000, 'From a connection to the end of its request headers; slower is answered 408.'),
  requestTimeoutMs: limit(15_000, 'From a connection to the end of its request body; slower is answered 408.'),
  keepAliveTimeoutMs: limit(
    65_000,
    'An idle connection is kept this long: longer than the 60 s of common load balancers.',
  ),
  connectionsMax: limit(10_000, 'Open connections of each worker; further ones are closed without a response.'),
  requestsPerConnectionMax: limit(10_000, 'Requests on one connection, after which it is closed.'),
  requestsPerSharedConnectionMax: limit(
    1_000,
    'The same when several workers share the port, so that connections spread over the workers.',
  ),
  pipelinedRequestsMax: limit(
    64,
    'Requests of one connection that may wait until the response before them has drained; a further one closes it.',
  ),
  unreadBytesMax: limit(
    33_554_432,
    'Of each worker: response bytes that clients have not taken, at most one response of each connection, and the requests that wait behind them (4.5 KiB each and their own bytes). Over it the connections that stalled longest are closed.',
  ),
  responseBytesPerSecondFloor: limit(
    1_024,
    'The slowest rate at which a client may take a response; the connection of a slower one is closed.',
  ),
  responseStallSecondsMax: limit(
    30,
    'A client may take nothing of a response for this long: at the minimum rate the kernel reports progress only about every 28 s.',
  ),

  // Credentials
  authorizationCharsMax: limit(authorizationChars, 'The Authorization header.'),
  basicCharsMax: limit(2_048, 'The base64 part of a Basic credential.'),
  emailCharsMax: limit(254, 'RFC 5321 section 4.5.3.1.3, less the angle brackets.'),
  passwordBytesMax: limit(1_024, 'UTF-8 bytes; a longer password is rejected, never truncated.'),
  passwordLengthFloor: limit(8, 'Code points; an operator cannot set a lower minimum.'),
  credentialsPerBatchMax: limit(credentialsPerBatch, 'Credentials in one POST /auth/verify/batch.'),

  // API keys
  nicknameCodePointsMax: limit(64, 'Code points of a nickname in NFC.'),
  nicknameBytesMax: limit(256, 'UTF-8 bytes of a nickname: three quarters of a KiB when percent-encoded in a header.'),
  scopesPerKeyMax: limit(32, 'Scopes of one key, so that X-Keyreeve-Scopes stays below 2.1 KiB.'),
  scopeCharsMax: limit(64, 'Characters of one scope (RFC 6749 section 3.3).'),

  // Passwords and sign-in
  hashQueueMax: limit(
    64,
    'Password checks that may wait, divided among the workers; one more is answered 503 before anything is hashed.',
  ),
  hashWaitMsMax: limit(
    1_500,
    'The longest expected wait for a password check; beyond it 503 before anything is hashed.',
  ),
  signInsUnderWayMax: limit(
    72,
    'Password checks in progress, divided among the workers. One more is answered 503 before anything is written. One client IP range gets at most as many as remain free; all ranges that are not trusted together get three quarters.',
  ),
  passwordChecksPerEmailMax: limit(
    2,
    'Password checks in progress for one email, and as many from address ranges that it does not trust; one more is answered 429.',
  ),
  loginPairFreeFailures: limit(5, 'Failed sign-ins of one email from one client IP range before waits begin.'),
  loginPairDelaySecondsFirst: limit(1, 'The first wait; it doubles with each further failure.'),
  loginPairDelaySecondsMax: limit(900, 'The longest such wait.'),
  loginPairWindowSeconds: limit(86_400, 'The count of these failures restarts after this time.'),
  loginKnownPairFailuresMax: limit(
    10,
    'Failed sign-ins of one email in one minute from a trusted address range, instead of those waits: another client behind the same NAT must continue ten failures a minute to lock the owner out there.',
  ),
  loginKnownPairWindowSeconds: limit(60, 'That minute.'),
  signInsPerMinuteMax: limit(
    60,
    'Successful sign-ins of one account in one minute: each costs a password hash and a commit, and a script that needs more should use an API key.',
  ),
  loginEmailFailuresMax: limit(
    100,
    'Failed sign-ins for one email, with and without its +tag, from address ranges that are not trusted (NIST SP 800-63B, rate limiting). Beyond it only trusted ranges can sign in.',
  ),
  loginEmailLeakSeconds: limit(
    36,
    'That count decreases by one at this interval: 100 in an hour. It is the same for an email without an account, and a successful sign-in does not change it.',
  ),
  loginOriginTrustDays: limit(30, 'An address range is trusted for this long after a sign-in of the account from it.'),
  loginAddressFailuresMax: limit(100, 'Failed sign-ins from one client IP range in one window, over all emails.'),
  loginNetworkFailuresMax: limit(
    400,
    'The same from one /48 of IPv6, which a single customer may have: four times as many.',
  ),
  loginGlobalFailuresMax: limit(
    3_000,
    'Failed sign-ins in one window over all address ranges that are not trusted; beyond it only trusted ranges can sign in.',
  ),
  loginTrustedFailuresFactor: limit(
    10,
    'Failures from a range that the account trusts are counted separately, with this many times the bounds of a range and of a /48. They do not use up the counts above.',
  ),
  loginWindowSeconds: limit(900, 'The window of the four counts above.'),
  languageChangesPerHourMax: limit(
    20,
    'Changes of the language of its mail that one account can make in an hour: each writes an audit event, which is kept for good.',
  ),
  passwordChangesPerHourMax: limit(
    20,
    'Successful password changes with the current password of one account in an hour: each costs a hash, a mail and audit events. A password reset is counted separately.',
  ),
  creationWindowSeconds: limit(60, 'The window in which an account’s key creations are counted.'),
  throttleForgetDays: limit(30, 'A counter is deleted when it has not changed for this time.'),

  // Tokens
  clockSkewSeconds: limit(
    30,
    'Tolerated difference between the clocks of instances, for the times in access tokens and for times in the future.',
  ),
  refreshReuseSeconds: limit(
    5,
    'A refresh token is not replaced within this time of its issue: a refresh returns it again with a new access token and writes nothing. So a session causes at most one write in this time. No client needs more: an access token lives for at least 30 seconds.',
  ),
  unansweredRefreshesMax: limit(
    10_000,
    'Sessions of each worker whose refresh got a 503 or no response, for which a retry stays possible; about 2 MiB. Beyond it the ordinary grace applies.',
  ),
  unansweredRefreshSeconds: limit(
    600,
    'Such a retry succeeds for this time after the database answers again: clients that wait between retries return within minutes.',
  ),
  jwksMaxAgeSeconds: limit(300, 'Other services may cache the public keys for this time.'),
  signingKeyLeadSeconds: limit(
    600,
    'A new signing key is published this long before it signs: twice the caching time.',
  ),

  // Import
  importLineBytesMax: limit(65_536, 'A line of an import file; a longer one is rejected.'),
  importLinesPerCommitMax: limit(500, 'Lines of an import file that are written in one commit.'),
  importedArgon2KibMax: limit(262_144, 'Memory of an imported Argon2 hash: 256 MiB for each that is checked.'),
  importedArgon2KibPassesMax: limit(1_048_576, 'Its memory in KiB times its passes: about one second.'),
  importedBcryptCostMax: limit(14, 'Cost of an imported bcrypt hash: about one second.'),
  importedScryptBlocksMax: limit(2_097_152, 'N·r·p of an imported scrypt hash: 256 MiB at most, about one second.'),
  importedPbkdf2RoundsMax: limit(
    1_500_000,
    'Rounds of an imported PBKDF2 hash, times the blocks of its digest: one to two seconds. Frameworks use up to 1.2 million.',
  ),
  importedRecipesMax: limit(
    8,
    'Kinds of imported hashes (algorithm and parameters) that a sign-in looks for, so that one with any email does the work of each of them.',
  ),
  importedRecipesLookSeconds: limit(2, 'How long a running service may not know of a kind that was just imported.'),
  importedKeyCharsMax: limit(512, 'Characters of an imported key; longer credentials are not looked up.'),
  importedKeysLookSeconds: limit(
    2,
    'A running service may reject imported keys for this time after the first import: it checks at this interval whether there are any.',
  ),

  // Counting and queues
  lastUsedResolutionSeconds: limit(60, 'lastUsedAt is written at most this often per key.'),
  lastUsedPendingMax: limit(
    2_000,
    'Last-used times of each worker that are written together, every 10 seconds; when more keys are used, the last-used times of the newest are not written until their next use.',
  ),
  lookupBatchMax: limit(256, 'Credentials that share one database read.'),
  lookupsWaitingMax: limit(
    100_000,
    'Credentials in one process that may wait for the next database read; one more is answered 503.',
  ),
  requestStartsPerTurnMax: limit(
    1,
    'Requests that start in one turn of the event loop; the others wait. Verifications have a queue of their own.',
  ),
  writesWaitingMax: limit(
    1_000,
    'Writes of each worker that may wait for their turn. Beyond it, the account or client IP range with the most of them loses its newest, which is answered 429; without a larger one, the new write is answered 503.',
  ),
  writesWaitingPerOwnerMax: limit(
    256,
    'The same of one account or client IP range, a quarter of all; one more is answered 429.',
  ),
  writeWaitMsMax: limit(5_000, 'The longest that a write waits for its turn; then 503, and nothing has been changed.'),
  requestsPerCredentialMax: limit(
    128,
    'Requests in progress with one access token or refresh token, in each worker; one more is answered 429. Verifications are not counted.',
  ),
  requestsPerAccountMax: limit(
    256,
    'Requests in progress of one account, over all its sessions, in each worker; one more is answered 429.',
  ),
  requestsPerRangeMax: limit(
    512,
    'Requests in progress from one client IP range, in each worker; one more is answered 429. Without KEYREEVE_TRUSTED_PROXIES all clients behind a proxy are one range.',
  ),
  refusalHoldMs: limit(
    1_000,
    'Such a 429 is delayed by this time, the same as its Retry-After, so that a client that ignores it sends one request a second on each connection.',
  ),
  unfinishedDeletionsMax: limit(
    1_000,
    'Deletions of each worker with an unknown outcome that are being completed; one more is answered 503 before any change.',
  ),

  // Outbox: mail, webhooks
  outboxUnderWayMax: limit(
    16,
    'Webhook deliveries in progress at once in one process. Mail has the same number of its own, so slow receivers do not delay it.',
  ),
  requestedMailDelayMsMax: limit(
    2_000,
    'The job of a sign-up or a reset starts after a random time up to this, and the mail of a reset after another, so that their load does not reveal in the response times of other requests whether the email has an account.',
  ),
  outboxKeptDays: limit(3, 'An undelivered job is retried for this time, then discarded.'),

  // Webhooks
  webhookEndpointsMax: limit(20, 'Webhook endpoints, disabled ones included.'),
  webhookUrlCharsMax: limit(1_024, 'The URL of a webhook endpoint.'),
  webhookMsMax: limit(5_000, 'A whole delivery: name resolution, connection, TLS and response.'),
  webhookAnswerBytesMax: limit(
    65_536,
    'Bytes of an endpoint’s response that are read and discarded before the connection is closed.',
  ),
  webhookSecretOverlapSeconds: limit(86_400, 'A replaced secret signs besides the new one for this time.'),
  webhookEventsPerLookMax: limit(
    100,
    'Events of each chain of the audit log that are put into the outbox in one commit.',
  ),

  // The life of an account
  recentSignInSeconds: limit(300, 'Sensitive operations require a sign-in within this time (ASVS 5.0 7.5.1).'),
  secondFactorFreeFailures: limit(
    5,
    'Wrong codes of an account’s second factor after a correct password, and wrong current passwords of a session, before waits begin; the waits are those of a sign-in.',
  ),
  secondFactorFailuresMax: limit(
    100,
    'Such guesses in a row (NIST SP 800-63B, rate limiting). Then only a recovery code or an operator helps, and for a password a new sign-in.',
  ),
  secondFactorEnrolmentSeconds: limit(600, 'A new second factor must be confirmed within this time.'),
  recoveryCodesMax: limit(10, 'Recovery codes of an account, created together; each has 120 random bits.'),
  oneTimePasswordCharsMax: limit(64, 'Characters of a code of the second factor; a longer one is rejected.'),
  suspiciousFailures: limit(
    5,
    'Failed sign-ins in a row of one email after which a successful one is reported to the owner by mail (ASVS 5.0 6.3.5).',
  ),
  addressCharsMax: limit(64, 'Stored characters of the client IP of a session’s sign-in.'),
  verificationCodeSeconds: limit(86_400, 'Validity of the link of a sign-up.'),
  signUpKeptDays: limit(
    7,
    'An unverified sign-up is deleted after this time, unless one of its links is still valid. The first link is valid for a day; in the remaining time the owner can sign up again with the same account.',
  ),
  resetCodeSeconds: limit(600, 'Validity of the link of a password reset (ASVS 5.0 6.5.5).'),
  emailChangeCodeSeconds: limit(3_600, 'Validity of the link that confirms a new email.'),
  emailUndoSeconds: limit(
    604_800,
    'The previous email address can undo a change for this time: a week, because an owner on holiday reads mail late.',
  ),
  emailChangeKeptDays: limit(
    30,
    'The previous email address is stored for this time after a change, so that an administrator can restore it.',
  ),
  emailChangesMax: limit(
    10,
    'Changes of one account’s email address within those days: each stores an email address, and none replaces an older one.',
  ),
  invitationCodeSeconds: limit(3_600, 'Validity of an invitation; an administrator can send another.'),
  codeTriesMax: limit(
    10,
    'Attempts in an hour with one one-time code and rejected passwords. Only the holder of the code can use this up.',
  ),
  resetsPerEmailMax: limit(
    3,
    'Password resets in an hour for one email, from address ranges that are not trusted. Trusted ranges have the same number of their own, so that other clients cannot use up the owner’s.',
  ),
  signUpsPerEmailMax: limit(5, 'Sign-ups, repeated mails and changes to one email in an hour.'),
  mailRequestsPerAddressMax: limit(30, 'Both together in an hour from one client IP range, over all emails.'),
  mailRequestsPerNetworkMax: limit(120, 'The same from one /48 of IPv6: four times as many.'),
  mailRequestWindowSeconds: limit(3_600, 'The hour of the counts above.'),
  mailRequestsGlobalMax: limit(
    1_000,
    'Sign-ups, resets and changes of an email in one window over all client IPs, to protect the reputation of the operator’s mail server: enough for a launch with more than one sign-up a second. Resets from trusted address ranges can exceed it.',
  ),
  mailRequestsGlobalWindowSeconds: limit(
    900,
    'That window; short, because new users wait while the count is exhausted.',
  ),
  accountExistsMailsMax: limit(
    3,
    'Mails in a day that tell the owner of an email address that it already has an account.',
  ),
  programCharsMax: limit(256, 'Stored characters of the user agent of a session’s sign-in.'),

  // Administration
  adminPageMax: limit(100, 'Accounts or events on one page of /admin, and API keys on one page of /auth/api-keys.'),
  adminRowsPerPageMax: limit(
    5_000,
    'Rows that the server reads for one page of /admin: with the embedded database, the worker answers no other request meanwhile.',
  ),
  firstAdministratorCodeSeconds: limit(3_600, 'Validity of the code of `keyreeve admin bootstrap`.'),

  // PostgreSQL
  postgresReadersMax: limit(2, 'Connections of each worker for verifications, which any number of them share.'),
  postgresWritersMax: limit(8, 'Connections of each worker for everything else.'),
  postgresReservedWritersMax: limit(
    2,
    'Of these, reserved for deletions, disabling, session ends, password changes and resets; as many are reserved for everything else.',
  ),
  postgresConnectMsMax: limit(2_000, 'The longest wait for a connection; then 503.'),
  postgresStatementMsMax: limit(2_000, 'The longest that a statement may take or wait for a lock; then 503.'),
  postgresAnswerMsMax: limit(
    3_000,
    'The longest wait for a response, longer than the bound of a statement so that its connection stays usable; then 503, the connection is closed, and the outcome of a commit is unknown.',
  ),
} as const satisfies Record<string, Limit>;

type LimitValues = { readonly [Name in keyof typeof limitTable]: number };

/** The bare numbers: `limits.bodyBytesMax`. */
export const limits = Object.fromEntries(
  Object.entries(limitTable).map(([name, { value }]) => [name, value]),
) as LimitValues;
