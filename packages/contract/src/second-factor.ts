/** Second factors: an authenticator that shows six digits (TOTP, RFC 6238), and recovery codes. */
import Type, { type Static } from 'typebox';
import { currentPasswordErrors } from './errors/groups.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { AuthenticationResponse } from './passkey-messages.ts';
import { route } from './route.ts';
import { Text } from './schemas.ts';

/** The request header of a sign-in with a second factor. */
export const oneTimePasswordHeader = 'X-Keyreeve-OTP';

const CurrentPassword = Type.String({
  minLength: 1,
  maxLength: limits.passwordBytesMax,
  examples: ['wombat orbit velvet 42'],
});
const Code = Type.String({
  minLength: 1,
  maxLength: limits.oneTimePasswordCharsMax,
  description: 'The six digits, or a recovery code',
  examples: ['492039'],
});

export const CurrentPasswordBody = Named('PasswordConfirmation', { currentPassword: CurrentPassword });
export const FactorProofBody = Named(
  'SecondFactorProof',
  {
    currentPassword: CurrentPassword,
    code: Type.Optional(Code),
    passkey: Type.Optional(AuthenticationResponse),
  },
  {
    description: '`code`, or `passkey`: the response to the options of `second_factor_required`',
    examples: [{ currentPassword: 'wombat orbit velvet 42', code: '492039' }],
  },
);
export const FactorCodeBody = Named('SecondFactorCode', {
  code: Type.String({
    minLength: 1,
    maxLength: limits.oneTimePasswordCharsMax,
    description: 'The six digits',
    examples: ['492039'],
  }),
});

export const BegunFactor = Named('NewSecondFactor', {
  secret: Text('JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP', 'Base32, to type. Only this response has it'),
  uri: Text(
    'otpauth://totp/Keyreeve:ada%40example.com?issuer=Keyreeve&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    'The secret as a URI for a QR code',
  ),
});
export type BegunFactor = Static<typeof BegunFactor>;

export const RecoveryCodes = Named('RecoveryCodes', {
  recoveryCodes: Type.Array(Type.String(), {
    description:
      'Each works once in place of a code. Only this response has them. Empty after the confirmation of an authenticator app beside passkeys: the account keeps its codes',
    examples: [['7K2M-Q9XD-4RTB-0HVN-6WCE-P3JA']],
  }),
});
export type RecoveryCodes = Static<typeof RecoveryCodes>;

/** Which second factors an account has. */
export const shownFactors = {
  authenticator: Type.Boolean({ description: 'Whether an authenticator app is enrolled' }),
  passkeys: Type.Integer({ minimum: 0, description: 'Number of passkeys', examples: [1] }),
};

const own = { tag: 'Second factor', auth: 'access_token' } as const;

export const beginSecondFactor = route('beginSecondFactor', 'POST /auth/account/second-factor', {
  ...own,
  summary: 'Start to enrol an authenticator app',
  description: `Creates a secret (TOTP: SHA-1, six digits, 30 seconds) for the user’s authenticator. Nothing changes until it is confirmed within ${limits.secondFactorEnrolmentSeconds / 60} minutes; another request replaces it.`,
  isOpenBeforeEnrolment: true,
  needsRecentSignIn: true,
  body: { type: 'json', schema: CurrentPasswordBody },
  success: { status: 201, description: 'The secret', schema: BegunFactor },
  errors: [...currentPasswordErrors, 'second_factor_exists'],
});

export const confirmSecondFactor = route('confirmSecondFactor', 'POST /auth/account/second-factor/confirm', {
  ...own,
  summary: 'Confirm the second factor',
  description:
    'Needs a code of the authenticator; sign-ins then need one too. Ends the account’s other sessions and notifies the owner by mail.',
  isOpenBeforeEnrolment: true,
  body: { type: 'json', schema: FactorCodeBody },
  success: { status: 200, description: 'Recovery codes', schema: RecoveryCodes },
  errors: ['second_factor_wrong', 'second_factor_not_enrolled', 'too_many_attempts'],
});

export const removeSecondFactor = route('removeSecondFactor', 'DELETE /auth/account/second-factor', {
  ...own,
  summary: 'Remove the authenticator app',
  description:
    'Also removes the recovery codes, unless the account has passkeys, which stay a second factor. Ends the account’s other sessions and notifies the owner by mail.',
  needsRecentSignIn: true,
  body: { type: 'json', schema: FactorProofBody },
  success: { status: 204, description: 'Without passkeys, a sign-in needs only the password' },
  errors: [
    ...currentPasswordErrors,
    'second_factor_wrong',
    'second_factor_required_by_policy',
    'second_factor_not_enrolled',
    'passkeys_unavailable',
  ],
});

export const replaceRecoveryCodes = route('replaceRecoveryCodes', 'POST /auth/account/recovery-codes', {
  ...own,
  summary: 'Create new recovery codes',
  description: 'Voids the old ones.',
  needsRecentSignIn: true,
  body: { type: 'json', schema: FactorProofBody },
  success: { status: 200, description: 'The new codes', schema: RecoveryCodes },
  errors: [...currentPasswordErrors, 'second_factor_wrong', 'second_factor_not_enrolled', 'passkeys_unavailable'],
});
