/** Creates the modules of sign-in: passwords, second factors, sessions and tokens, with their rate limits. `wiring.ts` calls it. */
import { Accounts } from '../../modules/accounts/accounts.ts';
import { CommonPasswords } from '../../modules/accounts/common-passwords.ts';
import { CurrentPassword } from '../../modules/accounts/current-password.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Config } from '../configuration/config.ts';
import { PasswordHasher, type Argon2Parameters } from '../../foundation/crypto/password.ts';
import type { DeletionJournal } from '../../modules/deletion-journal/deletion-journal.ts';
import { Enrolment } from '../../modules/second-factors/enrolment.ts';
import type { Installation } from '../installation/installation.ts';
import type { Log } from '../../foundation/log.ts';
import type { Mailer } from '../../modules/mail/mail.ts';
import { Passkeys } from '../../modules/passkeys/passkeys.ts';
import { relyingPartyOf } from '../../modules/passkeys/relying-party.ts';
import { PasskeySignIns } from '../../modules/passkeys/sign-ins.ts';
import { operatorName } from '../../modules/mail/sender.ts';
import { SecondFactors } from '../../modules/second-factors/second-factors.ts';
import { SigningKeys } from '../../modules/signing-keys/signing-keys.ts';
import { SignInLimits } from '../../modules/rate-limits/sign-in-limits.ts';
import { RequestLimits } from '../../modules/rate-limits/request-limits.ts';
import { SecondFactorLimits } from '../../modules/rate-limits/second-factor-limits.ts';
import { PasswordChecks } from '../../modules/rate-limits/password-checks.ts';
import { AccessTokens } from '../../modules/tokens/access-token.ts';
import { RefreshTokens } from '../../modules/tokens/refresh-token.ts';
import { assertSessionValidTx } from '../../modules/sessions/store.ts';
import { SignIns } from '../../modules/tokens/sign-ins.ts';
import { Tokens } from '../../modules/tokens/tokens.ts';
import type { PasswordRules } from '../../modules/accounts/password-rules.ts';
import type { HashingThreads } from '../../foundation/crypto/hashing-threads.ts';

export interface SignInServices {
  readonly accounts: Accounts;
  readonly passkeys: Passkeys;
  readonly passkeySignIns: PasskeySignIns;
  readonly currentPassword: CurrentPassword;
  readonly enrolment: Enrolment;
  readonly hasher: PasswordHasher;
  readonly requests: RequestLimits;
  readonly rules: PasswordRules;
  readonly secondFactorLimits: SecondFactorLimits;
  readonly secondFactors: SecondFactors;
  readonly signInLimits: SignInLimits;
  readonly signIns: SignIns;
  readonly signingKeys: SigningKeys;
  readonly tokens: Tokens;
}

export interface SignInWiring {
  readonly config: Config;
  readonly installation: Installation;
  readonly clock: Clock;
  /** The public URL. */
  readonly issuer: string;
  readonly argon2: Argon2Parameters | undefined;
  readonly hashingThreads: HashingThreads | undefined;
  readonly areRequestsLimited: boolean;
  readonly log: Log | undefined;
  readonly mailer: Mailer;
  /** Undefined if none is configured. */
  readonly journal: DeletionJournal | undefined;
}

export function wireSignIn(options: SignInWiring): SignInServices {
  const { config, installation, clock, issuer, areRequestsLimited, log, mailer, journal } = options;
  const { db, keys } = installation;
  const { isRateLimited: enabled, passwordLengthMin: lengthMin } = config;
  // The limits per machine are divided among its workers.
  const share = 1 / config.workers;
  const hasher = new PasswordHasher(keys.passwordPeppers, options.argon2, {
    share,
    threads: options.hashingThreads,
    onWarning: (detail) =>
      log?.warn({ event: 'hashing_priority', detail: `password hashes can delay verifications: ${detail}` }),
  });
  const limitOptions = { db, clock, bucketHash: keys.throttleBucket };
  const signInLimits = new SignInLimits({ ...limitOptions, ipRangeLimits: config.ipRangeLimits, enabled });
  const common = new CommonPasswords();
  const rules = { lengthMin, contextWords: ['keyreeve', ...new URL(issuer).hostname.split('.')], common };
  const rejectsAdministrators = !config.mayAdministratorsUsePasswords;
  const accounts = new Accounts({
    db,
    clock,
    hasher,
    rejectsAdministrators,
    rules,
    signInLimits,
    revocations: journal,
    guard: assertSessionValidTx,
  });
  const { accessTokenTtlSeconds } = config;
  const signingKeys = new SigningKeys({
    db,
    clock,
    seal: keys.signingKeySeal,
    alg: config.jwtAlg,
    accessTokenTtlSeconds,
    guard: assertSessionValidTx,
    revocations: journal,
  });
  const secondFactorLimits = new SecondFactorLimits({ ...limitOptions, enabled: areRequestsLimited });
  const secondFactors = new SecondFactors({
    db,
    clock,
    seal: keys.secondFactorSeal,
    codeHash: keys.recoveryCodeHash,
    secondFactorLimits,
    issuer: operatorName(config.mailFrom, issuer),
  });
  const requests = new RequestLimits({
    ...limitOptions,
    ipRangeLimits: config.ipRangeLimits,
    signInLimits,
    enabled: areRequestsLimited,
  });
  const checks = new PasswordChecks({ hasher, share, isFair: enabled });
  const currentPassword = new CurrentPassword({ db, hasher, checks, secondFactorLimits, requests });
  const { origin } = new URL(issuer);
  const relyingParty = relyingPartyOf({
    rpId: config.passkeyRpId,
    name: operatorName(config.mailFrom, issuer),
    origins: [config.consoleUrl ?? origin, origin],
  });
  const { passkeyChallenges: challenges, passkeyUserHandles: userHandles } = keys;
  const passkeyOptions = { db, clock, challenges, userHandles, relyingParty, mailer };
  const passkeySignIns = new PasskeySignIns({ ...passkeyOptions, rejectsAdministrators });
  const enrolment = new Enrolment({
    db,
    clock,
    accounts,
    currentPassword,
    secondFactors,
    passkeys: passkeySignIns.ownerChecks,
    mailer,
    revocations: journal,
  });
  const passkeys = new Passkeys({ ...passkeyOptions, accounts, secondFactors, requests, revocations: journal });
  const audience = config.audience ?? issuer;
  const signIns = new SignIns({
    db,
    clock,
    accounts,
    secondFactors,
    passkeys: passkeySignIns,
    mailer,
    signInLimits,
    checks,
    revocations: journal,
    sessionsPerAccountMax: config.sessionsPerAccountMax,
    // Level `warn`, so that KEYREEVE_LOG_LEVEL=warn still logs it, for fail2ban.
    onFailedSignIn: ({ clientIp, accountId, reason }) =>
      log?.warn({ event: 'sign_in_failed', clientIp, accountId, reason }),
  });
  const tokens = new Tokens({
    db,
    clock,
    accounts,
    signIns,
    accessTokens: new AccessTokens({ clock, signingKeys, issuer, audience, ttlSeconds: accessTokenTtlSeconds }),
    refreshTokens: new RefreshTokens(keys),
    idleTtlSeconds: config.refreshIdleTtlSeconds,
    maxTtlSeconds: config.refreshMaxTtlSeconds,
    graceSeconds: config.refreshGraceSeconds,
  });
  return {
    accounts,
    currentPassword,
    enrolment,
    hasher,
    passkeySignIns,
    passkeys,
    requests,
    rules,
    secondFactorLimits,
    secondFactors,
    signInLimits,
    signIns,
    signingKeys,
    tokens,
  };
}
