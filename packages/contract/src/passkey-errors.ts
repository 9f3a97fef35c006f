/** Errors of passkeys. Part of the registry in errors.ts. */
import type { ErrorDefinition } from './error-definition.ts';
import { limits } from './limits.ts';

export const passkeyErrors = {
  passkey_invalid: {
    status: 400,
    title: 'The new passkey is not valid',
    meaning: `The response of the authenticator does not match the options of POST /auth/passkeys/options: it is for another session, origin or relying party, lacks user verification, has been used, or is older than ${limits.passkeyChallengeSeconds / 60} minutes. Request new options and create another passkey.`,
  },
  passkey_rejected: {
    status: 401,
    title: 'The passkey is not accepted',
    meaning:
      'The passkey is unknown, its signature is wrong, its options have expired or were used before, it lacks user verification, or its account may not sign in. Request new options and try again. The response is the same for each cause.',
  },
  passkey_not_found: {
    status: 404,
    title: 'No such passkey',
    meaning: 'The account has no passkey with this id.',
  },
  passkeys_unavailable: {
    status: 409,
    title: 'This installation has no passkeys',
    meaning:
      'Passkeys need a host name and https, except on localhost. An operator sets KEYREEVE_PUBLIC_URL and, if necessary, KEYREEVE_PASSKEY_RP_ID.',
  },
  passkey_limit_reached: {
    status: 409,
    title: 'The maximum number of passkeys exists',
    meaning: `An account has at most ${limits.passkeysPerAccountMax} passkeys. Remove one that is no longer used.`,
  },
  passkey_exists: {
    status: 409,
    title: 'The passkey has been added before',
    meaning: 'An account has a passkey with this credential id.',
  },
} as const satisfies Record<string, ErrorDefinition>;
