/** The reasons why a verification rejects a credential. */

/** Why a credential is not good; the `code` of `POST /auth/verify`. */
export const refusals = {
  malformed: 'It is not a credential of this installation: wrong form, checksum or signature.',
  wrong_kind: 'It is a refresh token or a one-time code, which is not accepted here.',
  not_found: 'No such key, or the session of the access token has ended.',
  expired: 'Its time is over.',
  disabled: 'The account of the credential is disabled.',
  enrolment_required: 'The account of the access token must enrol a second factor first.',
} as const;

export type Refusal = keyof typeof refusals;
