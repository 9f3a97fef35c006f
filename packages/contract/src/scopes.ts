/** The scope catalogue: declared scopes, and the entitlements of accounts. */
import Type, { type Static } from 'typebox';
import { account, administrator, changing, message, ofAccount } from './admin-parts.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { route } from './route.ts';
import { Instant, orNull, Scope, Text } from './schemas.ts';

const name = Text('orders:read');
const Description = Type.String({
  maxLength: limits.scopeDescriptionCharsMax,
  description: 'For people who create keys; printable characters',
  examples: ['Read orders and their lines'],
});
const Entitled = Type.Boolean({
  description: 'true: in force only on keys of accounts that have it as an entitlement',
});

export const GrantableScope = Named('GrantableScope', {
  name,
  description: Description,
  mayGrant: Type.Boolean({ description: 'Whether the account can give it to its keys', examples: [true] }),
});
export const GrantableScopes = Named('GrantableScopeList', { scopes: Type.Array(GrantableScope) });

export const ScopeBody = Named('ScopeDeclaration', { description: Description, entitled: Entitled });
export type ScopeRequest = Static<typeof ScopeBody>;

export const DeclaredScope = Named(
  'DeclaredScope',
  {
    name,
    description: Description,
    entitled: Entitled,
    createdAt: Instant,
    updatedAt: Instant,
    deletedAt: orNull(Instant, null),
  },
  { description: '`deletedAt`: since then, the scope is in force on no key' },
);
export type DeclaredScope = Static<typeof DeclaredScope>;

export const ScopeList = Named('DeclaredScopeList', { scopes: Type.Array(DeclaredScope) });

export const EntitlementsBody = Named('Entitlements', {
  entitlements: Type.Array(Scope, {
    maxItems: limits.entitlementsPerAccountMax,
    uniqueItems: true,
    description: 'All of them: the list replaces the current one',
  }),
});

export const listGrantableScopes = route('listGrantableScopes', 'GET /auth/scopes', {
  tag: 'API keys',
  summary: 'List the declared scopes',
  description:
    'The scope catalogue, by name. With `KEYREEVE_SCOPES=open`, an account can give its keys any other name, too.',
  auth: 'access_token',
  success: { status: 200, description: 'The declared scopes', schema: GrantableScopes },
});

const ofScope = { params: Type.Object({ name: Scope }) } as const;
const scope = { status: 200, description: 'The scope', schema: DeclaredScope } as const;

export const adminListScopes = route('adminListScopes', 'GET /admin/scopes', {
  ...administrator,
  summary: 'List the scope catalogue',
  success: { status: 200, description: 'All scopes by name, with the deleted ones', schema: ScopeList },
});

export const adminGetScope = route('adminGetScope', 'GET /admin/scopes/:name', {
  ...administrator,
  ...ofScope,
  summary: 'Get a scope of the catalogue',
  success: scope,
  errors: ['scope_not_found'],
});

export const adminSetScope = route('adminSetScope', 'PUT /admin/scopes/:name', {
  ...changing,
  ...ofScope,
  summary: 'Declare or change a scope',
  description:
    'After a scope is marked as `entitled`, it is in force only on keys of accounts that have the entitlement: for every verification that starts after the response, on every instance. Declaring a deleted scope again puts it in force on the keys that have it. Verifications apply the catalogue with `KEYREEVE_SCOPES=catalogue`.',
  body: { type: 'json', schema: ScopeBody },
  success: scope,
  errors: ['scope_invalid', 'catalogue_full'],
});

export const adminDeleteScope = route('adminDeleteScope', 'DELETE /admin/scopes/:name', {
  ...changing,
  ...ofScope,
  summary: 'Delete a scope',
  description:
    'For every verification that starts after the response, the scope is in force on no key. The name stays in the catalogue.',
  success: message,
  errors: ['scope_not_found'],
});

export const adminSetEntitlements = route('adminSetEntitlements', 'PUT /admin/accounts/:id/entitlements', {
  ...changing,
  summary: 'Set the entitlements of an account',
  description:
    'The scopes with `entitled: true` that the account’s keys may have. A removed one is in force on none of its keys, for every verification that starts after the response.',
  ...ofAccount,
  body: { type: 'json', schema: EntitlementsBody },
  success: account,
  errors: ['account_not_found'],
});

export const scopeAdminRoutes = [
  adminListScopes,
  adminGetScope,
  adminSetScope,
  adminDeleteScope,
  adminSetEntitlements,
] as const;
