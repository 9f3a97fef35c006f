/** Errors of passkeys. Part of the registry in ../errors.ts. */
import type { ErrorDefinition } from './definition.ts';
import { limits } from '../limits.ts';

export const passkeyErrors = {
  passkey_invalid: {
    status: 400,
    title: 'The new passkey is not valid',
    meaning: `The response of the authenticator does not match the options of POST /auth/passkeys/options: it is for another session, origin or relying party, lacks user verification, has been used, or is older than ${limits.passkeyChallengeSeconds / 60} minutes. Request new options and create another passkey.`,
    cause:
      'The response was created with other or expired options, on a page of another origin, or without user verification.',
    fix: 'Request options with `POST /auth/passkeys/options` in the same session and create the passkey within their validity, on the console or on a page of the public URL.',
  },
  passkey_rejected: {
    status: 401,
    title: 'The passkey is not accepted',
    meaning:
      'The passkey is unknown, its signature is wrong, its options have expired or were used before, it lacks user verification, or its account may not sign in. Request new options and try again. The response is the same for each cause.',
    cause:
      'The passkey was removed or belongs to another account, or the response does not match current options. A counter that did not increase shows that the passkey was copied; the audit log then has `passkey.counter_regressed`.',
    fix: 'Request new options and use the passkey again, or sign in with the password.',
  },
  passkey_not_found: {
    status: 404,
    title: 'No such passkey',
    meaning: 'The account has no passkey with this id.',
    cause: 'The passkey was removed, or the id is wrong.',
    fix: 'Copy the complete id from `GET /auth/passkeys`.',
  },
  passkeys_unavailable: {
    status: 409,
    title: 'This installation has no passkeys',
    meaning:
      'Passkeys need a host name and https, except on localhost. An operator sets KEYREEVE_PUBLIC_URL and, if necessary, KEYREEVE_PASSKEY_RP_ID.',
    cause:
      'The URL of the console has an IP address or uses http on a host other than localhost, or its host is not within `KEYREEVE_PASSKEY_RP_ID`.',
    fix: 'Open the console by a host name over https. See the documentation of passkeys.',
  },
  passkey_limit_reached: {
    status: 409,
    title: 'The maximum number of passkeys exists',
    meaning: `An account has at most ${limits.passkeysPerAccountMax} passkeys. Remove one that is no longer used.`,
    cause: 'The account already has the maximum number of passkeys.',
    fix: 'Remove a passkey with `DELETE /auth/passkeys/{id}`, then add the new one.',
  },
  passkey_exists: {
    status: 409,
    title: 'The passkey has been added before',
    meaning: 'An account has a passkey with this credential id.',
    cause: 'The authenticator returned a credential that has been added before.',
    fix: 'Use the existing passkey, or remove it first.',
  },
} as const satisfies Record<string, ErrorDefinition>;
