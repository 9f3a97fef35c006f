/** Administration of an account's API keys, and of its limits. */
import Type from 'typebox';
import { account, administrator, changing, message, ofAccount } from './admin-parts.ts';
import { AdministeredKeys, KeyRestrictionBody } from './admin-schemas.ts';
import { KeyDetails } from './api-key-changes.ts';
import { KeyLimits } from './key-limits.ts';
import { tokensRead } from './key-tokens.ts';
import { usageRead } from './key-usage.ts';
import { route } from './route.ts';
import { AccountId, KeyId } from './schemas.ts';

export const adminListKeys = route('adminListKeys', 'GET /admin/accounts/:id/api-keys', {
  ...administrator,
  summary: 'List an account’s API keys',
  description:
    'Secrets are never listed. The list has no pages: an account has at most `KEYREEVE_KEYS_PER_ACCOUNT_MAX` keys, 100 by default.',
  ...ofAccount,
  success: { status: 200, description: 'The keys, oldest first', schema: AdministeredKeys },
  errors: ['account_not_found'],
});

const ofKey = { params: Type.Object({ id: AccountId, keyId: KeyId }) } as const;

export const adminGetKey = route('adminGetKey', 'GET /admin/accounts/:id/api-keys/:keyId', {
  ...administrator,
  ...ofKey,
  summary: 'Get an account’s API key',
  success: { status: 200, description: 'The key, without its secret', schema: KeyDetails },
  errors: ['account_not_found', 'key_not_found'],
});

export const adminGetKeyUsage = route('adminGetKeyUsage', 'GET /admin/accounts/:id/api-keys/:keyId/usage', {
  ...administrator,
  ...ofKey,
  ...usageRead,
  summary: 'Get the usage of an account’s API key',
  errors: ['invalid_request', 'account_not_found', 'key_not_found', 'usage_not_kept'],
});

export const adminGetKeyTokens = route('adminGetKeyTokens', 'GET /admin/accounts/:id/api-keys/:keyId/tokens', {
  ...administrator,
  ...ofKey,
  ...tokensRead,
  summary: 'Get the last identity tokens of an account’s API key',
  errors: ['account_not_found', 'key_not_found'],
});

export const adminChangeKey = route('adminChangeKey', 'PATCH /admin/accounts/:id/api-keys/:keyId', {
  ...changing,
  ...ofKey,
  summary: 'Change an account’s API key',
  description:
    'Like the owner’s change. Only an administrator or an operator can enable a key that an administrator has disabled.',
  body: { type: 'json', schema: KeyRestrictionBody },
  success: { status: 200, description: 'The changed key', schema: KeyDetails },
  errors: ['account_not_found', 'key_not_found', 'reserved_scope', 'too_many_changes'],
});

export const adminDeleteKey = route('adminDeleteKey', 'DELETE /admin/accounts/:id/api-keys/:keyId', {
  ...changing,
  summary: 'Delete an account’s API key',
  ...ofKey,
  success: message,
  errors: ['account_not_found', 'key_not_found'],
});

export const adminSetLimits = route('adminSetLimits', 'PUT /admin/accounts/:id/limits', {
  ...changing,
  summary: 'Set the limits of an account',
  description:
    'All API keys of the account share them, in addition to the limits of each key. Replaces all limits of the account: an absent member removes that limit, and `{}` removes both. Applies to every verification that starts after the response. Access tokens are not limited.',
  ...ofAccount,
  body: { type: 'json', schema: KeyLimits },
  success: account,
  errors: ['account_not_found'],
});
