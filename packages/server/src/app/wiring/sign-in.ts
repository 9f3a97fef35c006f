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
import { SecondFactors } from '../../modules/second-factors/second-factors.ts';
import { assertSessionValidTx } from '../../modules/sessions/store.ts';
import { RefreshTokens } from '../../modules/tokens/refresh-token.ts';
import { SignIns } from '../../modules/tokens/sign-ins.ts';
import { TokenPairs } from '../../modules/tokens/token-pairs.ts';
import type { WiringCore } from './core.ts';
import { wireAccessTokens } from './verification.ts';

export type SignInServices = ReturnType<typeof wireSignIn>;

export function wireSignIn(core: WiringCore) {
  const passwords = wirePasswords(core);
  const factors = wireSecondFactors({ ...core, ...passwords });
  return { ...passwords, ...factors, ...wireTokens({ ...core, ...passwords, ...factors }) };
}

function wirePasswords(core: WiringCore) {
  const { config, keys, issuer, areRequestsLimited, log } = core;
  const { isRateLimited: enabled, passwordLengthMin: lengthMin, ipRangeLimits } = config;
  const hasher = new PasswordHasher(keys.passwordPeppers, core.argon2, {
    threads: core.hashingThreads,
    onWarning: (detail) =>
      log?.warn({ event: 'hashing_priority', detail: `password hashes can delay verifications: ${detail}` }),
  });
  const limitCore = { ...core, bucketHash: keys.rateLimitBucket, ipRangeLimits };
  const signInLimits = new SignInLimits({ ...limitCore, enabled });
  const secondFactorLimits = new SecondFactorLimits({ ...limitCore, enabled: areRequestsLimited });
  const requests = new RequestLimits({ ...limitCore, signInLimits, enabled: areRequestsLimited });
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
    accounts: new Accounts({ ...core, hasher, rules, signInLimits, guard: assertSessionValidTx }),
    currentPassword: new CurrentPassword({ ...core, hasher, checks, secondFactorLimits, requests }),
  };
}

function wireSecondFactors(core: WiringCore & ReturnType<typeof wirePasswords>) {
  const { config, keys, issuer, product } = core;
  const secondFactors = new SecondFactors({
    ...core,
    seal: keys.secondFactorSeal,
    codeHash: keys.recoveryCodeHash,
    issuer: product,
  });
  const { origin } = new URL(issuer);
  const passkeyCore = {
    ...core,
    challenges: keys.passkeyChallenges,
    userHandles: keys.passkeyUserHandles,
    relyingParty: relyingPartyOf({
      rpId: config.passkeyRpId,
      name: product,
      origins: [config.consoleUrl ?? origin, origin],
    }),
  };
  const passkeySignIns = new PasskeySignIns(passkeyCore);
  return {
    secondFactors,
    passkeySignIns,
    passkeys: new Passkeys({ ...passkeyCore, secondFactors }),
    enrolment: new Enrolment({ ...core, secondFactors, passkeys: passkeySignIns.ownerChecks }),
  };
}

function wireTokens(core: WiringCore & ReturnType<typeof wirePasswords> & ReturnType<typeof wireSecondFactors>) {
  const { config, keys, log } = core;
  const { signingKeys, accessTokens, tokens } = wireAccessTokens(core, core.accounts.revocations.unfinished);
  const signIns = new SignIns({
    ...core,
    passkeys: core.passkeySignIns,
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
