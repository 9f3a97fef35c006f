/** Codes of the reasons why a member of a request is rejected, for clients that show a sentence of their own. */
import Type, { type Static } from 'typebox';

/** `invalid`: a reason without a code of its own, which only `detail` states. Clients treat unknown codes as `invalid`. */
export const FieldCode = Type.Enum(
  [
    'invalid',
    'required',
    'unknown_member',
    'wrong_type',
    'wrong_value',
    'wrong_form',
    'wrong_time',
    'repeated',
    'too_small',
    'too_large',
    'too_short',
    'too_long',
    'too_few',
    'too_many',
    'not_printable',
    'not_future',
    'lifetime_exceeded',
    'not_address',
    'host_bits',
    'not_grantable',
    'not_entitleable',
  ],
  { $id: 'FieldCode', description: 'Later versions may have further codes: treat an unknown one as `invalid`' },
);
export type FieldCode = Static<typeof FieldCode>;
