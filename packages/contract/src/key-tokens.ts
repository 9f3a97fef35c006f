/** The last identity tokens of a key with a trust. */
import Type from 'typebox';
import { limits } from './limits.ts';
import { route } from './route.ts';
import { KeyId } from './schemas.ts';
import { KeyTokens } from './trust.ts';

/** The parts that the routes of owners and administrators share. */
export const tokensRead = {
  summary: 'Get the last identity tokens of an API key',
  description: `Issuer and subject of the last identity tokens that were exchanged, and the claims of the last ones with a valid signature and audience that were rejected. A rejected token replaces none of the last ${limits.rejectedTokenSeconds} seconds. The token itself is not stored.`,
  success: { status: 200, description: 'The tokens; none for a key without a trust', schema: KeyTokens },
} as const;

export const getKeyTokens = route('getKeyTokens', 'GET /auth/api-keys/:id/tokens', {
  ...tokensRead,
  tag: 'API keys',
  auth: 'access_token',
  params: Type.Object({ id: KeyId }),
  errors: ['not_key_owner', 'key_not_found'],
});
