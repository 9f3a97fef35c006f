/** Cause and fix of the errors of passkeys. Part of the texts in error-help.ts. */
import type { ErrorHelp } from './error-definition.ts';
import type { passkeyErrors } from './passkey-errors.ts';

export const passkeyErrorHelp: Readonly<Record<keyof typeof passkeyErrors, ErrorHelp>> = {
  passkey_invalid: {
    cause:
      'The response was created with other or expired options, on a page of another origin, or without user verification.',
    fix: 'Request options with `POST /auth/passkeys/options` in the same session and create the passkey within their validity, on the console or on a page of the public URL.',
  },
  passkey_rejected: {
    cause:
      'The passkey was removed or belongs to another account, or the response does not match current options. A counter that did not increase shows that the passkey was copied; the audit log then has `passkey.counter_regressed`.',
    fix: 'Request new options and use the passkey again, or sign in with the password.',
  },
  passkey_not_found: {
    cause: 'The passkey was removed, or the id is wrong.',
    fix: 'Copy the complete id from `GET /auth/passkeys`.',
  },
  passkeys_unavailable: {
    cause:
      'The URL of the console has an IP address or uses http on a host other than localhost, or its host is not within `KEYREEVE_PASSKEY_RP_ID`.',
    fix: 'Open the console by a host name over https. See the documentation of passkeys.',
  },
  passkey_limit_reached: {
    cause: 'The account already has the maximum number of passkeys.',
    fix: 'Remove a passkey with `DELETE /auth/passkeys/{id}`, then add the new one.',
  },
  passkey_exists: {
    cause: 'The authenticator returned a credential that has been added before.',
    fix: 'Use the existing passkey, or remove it first.',
  },
};
