/** Creates the modules of sign-in: passwords, second factors, sessions and tokens, with their rate limits. */
import { PasswordHasher } from '../../foundation/crypto/password.ts';
import { Accounts } from '../../modules/accounts/accounts.ts';
import { CommonPasswords } from '../../modules/accounts/common-passwords.ts';
import { CurrentPassword } from '../../modules/accounts/current-password.ts';
import type { PasswordRules } from '../../modules/accounts/password-rules.ts';
import { Passkeys } from '../../modules/passkeys/passkeys.ts';
import { relyingPartyOf } from '../../modules/passkeys/relying-party.ts';
import { PasskeySignIns } from '../../modules/passkeys/sign-ins.ts';
import { PasswordChecks } from '../../modules/rate-limits/password-checks.ts';
import { RequestLimits } from '../../modules/rate-limits/request-limits.ts';
import { SecondFactorLimits } from '../../modules/rate-limits/second-factor-limits.ts';
import { SignInLimits } from '../../modules/rate-limits/sign-in-limits.ts';
import { Enrolment } from '../../modules/second-factors/enrolment.ts';
import { OwnerProofs } from '../../modules/second-factors/owner-proofs.ts';
import { SecondFactors } from '../../modules/second-factors/second-factors.ts';
import { assertSessionValidTx } from '../../modules/sessions/store.ts';
import { RefreshTokens } from '../../modules/tokens/refresh-token.ts';
import { SignIns } from '../../modules/tokens/sign-ins.ts';
import { TokenPairs } from '../../modules/tokens/token-pairs.ts';
import type { WiringCore } from './core.ts';
import { wireAccessTokens } from './verification.ts';

export type SignInServices = ReturnType<typeof wireSignIn>;

export function wireSignIn(wiring: WiringCore) {
  const passwords = wirePasswords(wiring);
  const factors = wireSecondFactors(wiring, passwords);
  return { ...passwords, ...factors, ...wireTokens(wiring, { ...passwords, ...factors }) };
}

function wirePasswords(wiring: WiringCore) {
  const { config, core, keys, issuer, areRequestsLimited, log, rejectsAdministrators } = wiring;
  const { isRateLimited: enabled, passwordLengthMin: lengthMin, ipRangeLimits } = config;
  const hasher = new PasswordHasher(keys.passwordPeppers, wiring.argon2, {
    threads: wiring.hashingThreads,
    onWarning: (detail) =>
      log?.warn({ event: 'hashing_priority', detail: `password hashes can delay verifications: ${detail}` }),
  });
  const limitCore = { ...core, bucketHash: keys.rateLimitBucket };
  const signInLimits = new SignInLimits({ ...limitCore, ipRangeLimits, enabled });
  const secondFactorLimits = new SecondFactorLimits({ ...limitCore, enabled: areRequestsLimited });
  const requests = new RequestLimits({ ...limitCore, ipRangeLimits, signInLimits, enabled: areRequestsLimited });
  const checks = new PasswordChecks({ hasher, isFair: enabled });
  const rules: PasswordRules = {
    lengthMin,
    contextWords: ['keyreeve', ...new URL(issuer).hostname.split('.')],
    common: new CommonPasswords(),
  };
  return {
    hasher,
    signInLimits,
    secondFactorLimits,
    requests,
    checks,
    rules,
    accounts: new Accounts({
      ...core,
      hasher,
      rules,
      signInLimits,
      rejectsAdministrators,
      guard: assertSessionValidTx,
    }),
    currentPassword: new CurrentPassword({ db: core.db, hasher, checks, secondFactorLimits, requests }),
  };
}

type Passwords = ReturnType<typeof wirePasswords>;

function wireSecondFactors(wiring: WiringCore, passwords: Passwords) {
  const { config, core, keys, issuer, mailer, product, rejectsAdministrators } = wiring;
  const { accounts, currentPassword, requests, secondFactorLimits } = passwords;
  const secondFactors = new SecondFactors({
    ...core,
    secondFactorLimits,
    seal: keys.secondFactorSeal,
    codeHash: keys.recoveryCodeHash,
    issuer: product,
  });
  const { origin } = new URL(issuer);
  const passkeyCore = {
    ...core,
    mailer,
    rejectsAdministrators,
    challenges: keys.passkeyChallenges,
    userHandles: keys.passkeyUserHandles,
    relyingParty: relyingPartyOf({
      rpId: config.passkeyRpId,
      name: product,
      origins: [config.consoleUrl ?? origin, origin],
    }),
  };
  const passkeySignIns = new PasskeySignIns(passkeyCore);
  const ownerProofs = new OwnerProofs({ currentPassword, secondFactors, passkeys: passkeySignIns.ownerChecks });
  return {
    secondFactors,
    ownerProofs,
    passkeySignIns,
    passkeys: new Passkeys({ ...passkeyCore, accounts, requests, secondFactors }),
    enrolment: new Enrolment({ ...core, accounts, currentPassword, mailer, ownerProofs, secondFactors }),
  };
}

function wireTokens(wiring: WiringCore, factors: Passwords & ReturnType<typeof wireSecondFactors>) {
  const { config, core, keys, log, mailer } = wiring;
  const { accounts, checks, passkeySignIns, secondFactors, signInLimits } = factors;
  const verificationCore = { ...core, config, keys, issuer: wiring.issuer };
  const { signingKeys, accessTokens, tokens } = wireAccessTokens(verificationCore, accounts.revocations.unfinished);
  const signIns = new SignIns({
    ...core,
    accounts,
    checks,
    mailer,
    passkeys: passkeySignIns,
    secondFactors,
    signInLimits,
    sessionsPerAccountMax: config.sessionsPerAccountMax,
    // Level `warn`, so that KEYREEVE_LOG_LEVEL=warn still logs it, for fail2ban.
    onFailedSignIn: ({ clientIp, accountId, reason }) =>
      log?.warn({ event: 'sign_in_failed', clientIp, accountId, reason }),
  });
  const tokenPairs = new TokenPairs({
    ...core,
    signIns,
    accessTokens,
    refreshTokens: new RefreshTokens(keys),
    idleTtlSeconds: config.refreshIdleTtlSeconds,
    maxTtlSeconds: config.refreshMaxTtlSeconds,
    graceSeconds: config.refreshGraceSeconds,
  });
  return { signingKeys, signIns, tokens, tokenPairs };
}
