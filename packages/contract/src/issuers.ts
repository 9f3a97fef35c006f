/** Issuers of identity tokens: JWTs that workloads exchange for short-lived secrets of keys that trust them. */
import Type, { type Static } from 'typebox';
import { administrator, changing } from './admin-parts.ts';
import { issuerAlgorithms, issuerPresetNames, issuerReplays } from './issuer-presets.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { route } from './route.ts';
import { AccountId, Instant, Message, orNull, Text } from './schemas.ts';

export const IssuerId = Type.Integer({
  $id: 'IssuerId',
  format: 'int64',
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Random, never used again',
  examples: [2718281828459045],
});
const Url = Type.String({
  minLength: 1,
  maxLength: limits.issuerUrlCharsMax,
  description:
    'The claim `iss` of its tokens, character for character: https, without user, password, query and fragment',
  examples: ['https://token.actions.githubusercontent.com'],
});
const Preset = Type.Enum(issuerPresetNames, {
  $id: 'IssuerPreset',
  description: 'Supplies the members that the request does not state. Default: the one with this URL, if any',
});
const Algorithm = Type.Enum([...issuerAlgorithms], { $id: 'IssuerAlgorithm' });
const Algorithms = Type.Array(Algorithm, {
  minItems: 1,
  maxItems: issuerAlgorithms.length,
  uniqueItems: true,
  description: 'Accepted signature algorithms (RFC 7518)',
  examples: [['RS256']],
});
const LifetimeSeconds = Type.Integer({
  minimum: limits.issuerLifetimeSecondsMin,
  maximum: limits.issuerLifetimeSecondsMax,
  description: 'The longest accepted time from `iat` to `exp`',
  examples: [limits.issuerLifetimeSeconds],
});
const Replay = Type.Enum([...issuerReplays], {
  $id: 'IssuerReplay',
  description: '`once`: each token is accepted once, by its claim `jti`. `until-exp`: until it expires',
});
/** RFC 6901, with at least one name. */
const ClaimPointer = Type.String({
  pattern: '^(?:/(?:[^~/\\u0000-\\u001F]|~[01])+)+$',
  maxLength: limits.issuerClaimCharsMax,
  description: 'JSON pointer (RFC 6901) of a claim',
  examples: ['/repository_id'],
});
const IdClaims = Type.Array(ClaimPointer, {
  minItems: 1,
  maxItems: limits.issuerClaimsMax,
  uniqueItems: true,
  description: 'Claims with ids that are never registered again. Each key that trusts the issuer names one of them',
  examples: [['/repository_id']],
});
const ListClaims = Type.Array(ClaimPointer, {
  maxItems: limits.issuerClaimsMax,
  uniqueItems: true,
  description: 'Claims that are lists: the trust of a key names one of their values',
  examples: [[]],
});
/** The server checks the members, because its errors must name a member of a private key. */
const KeySet = Type.Object(
  { keys: Type.Array(Type.Object({}, { additionalProperties: true }), { minItems: 1 }) },
  {
    $id: 'FixedKeySet',
    additionalProperties: true,
    description:
      'A JWK set (RFC 7517) of public keys, for an issuer that this server cannot reach. Absent: it is fetched from the `jwks_uri` of the issuer’s metadata',
    // RFC 7517 appendix A.1.
    examples: [
      {
        keys: [
          {
            kty: 'EC',
            crv: 'P-256',
            x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
            y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
            kid: 'a1',
          },
        ],
      },
    ],
  },
);

const settings = {
  algorithms: Type.Optional(Algorithms),
  lifetimeSeconds: Type.Optional(LifetimeSeconds),
  replay: Type.Optional(Replay),
  idClaims: Type.Optional(IdClaims),
  listClaims: Type.Optional(ListClaims),
};

export const NewIssuerBody = Named('NewIssuer', {
  url: Url,
  preset: Type.Optional(Preset),
  ...settings,
  jwks: Type.Optional(KeySet),
});
export type NewIssuerBody = Static<typeof NewIssuerBody>;

export const AdminNewIssuerBody = Named('AdminNewIssuer', {
  ...NewIssuerBody.properties,
  accountId: Type.Optional({
    ...AccountId,
    description: 'The service account whose keys may trust it. Default: keys of all accounts',
  }),
});
export type AdminNewIssuerBody = Static<typeof AdminNewIssuerBody>;

export const IssuerChangeBody = Named(
  'IssuerChange',
  { ...settings, jwks: Type.Optional(orNull(KeySet)) },
  {
    minProperties: 1,
    description: 'Absent members keep their values. `jwks: null`: the JWK set is fetched',
    examples: [{ lifetimeSeconds: 900 }],
  },
);
export type IssuerChangeBody = Static<typeof IssuerChangeBody>;

export const Issuer = Named(
  'Issuer',
  {
    id: IssuerId,
    url: Url,
    preset: orNull(Preset),
    accountId: Type.Optional(AccountId),
    algorithms: Type.Array(Algorithm, { examples: [['RS256']] }),
    lifetimeSeconds: LifetimeSeconds,
    replay: Replay,
    idClaims: Type.Array(Text('/repository_id')),
    listClaims: Type.Array(Text('/groups_direct')),
    jwks: Type.Optional(KeySet),
    keys: Type.Integer({ minimum: 0, description: 'Number of API keys that trust it', examples: [3] }),
    createdAt: Instant,
    updatedAt: Instant,
  },
  {
    description:
      '`accountId`: absent for an issuer that the keys of all accounts may trust. `algorithms`: empty after a restore that repeated a narrowing of the issuer; it accepts no token until they are set again',
  },
);
export type Issuer = Static<typeof Issuer>;

export const IssuerList = Named('IssuerList', { issuers: Type.Array(Issuer) });

export const IssuerKeySet = Named(
  'IssuerKeySet',
  {
    keyIds: Type.Array(orNull(Text('a1')), {
      description: '`kid` of each key that can verify tokens; null: it has none',
    }),
    failure: orNull(Text('it answered 503'), null),
  },
  { description: '`failure`: why the JWK set cannot be fetched' },
);
export type IssuerKeySet = Static<typeof IssuerKeySet>;

const removal =
  'Every verification that starts after the response rejects the short-lived secrets that were issued for its tokens, on every instance. Keys that trust it get no more of them, also if an issuer with the same URL is added later.';
const narrowing =
  'A change that accepts fewer tokens ends the short-lived secrets that were issued for tokens of the issuer: a removed algorithm, a shorter lifetime, `once` instead of `until-exp`, a removed id claim or list claim, a fixed JWK set that lacks an earlier key, or a change between a fixed and a fetched set.';
const ofIssuer = { params: Type.Object({ id: IssuerId }) } as const;
const issuer = { status: 200, description: 'The issuer', schema: Issuer } as const;
const list = { status: 200, description: 'The issuers, oldest first', schema: IssuerList } as const;
const removed = { status: 200, description: 'It has been removed', schema: Message } as const;
const created = { status: 201, description: 'The new issuer', schema: Issuer } as const;
const json = <Schema extends Type.TSchema>(schema: Schema) => ({ type: 'json', schema }) as const;

export const adminListIssuers = route('adminListIssuers', 'GET /admin/issuers', {
  ...administrator,
  summary: 'List the issuers of identity tokens',
  description: 'Those that the keys of all accounts may trust, or those of one service account.',
  query: Type.Object(
    { accountId: Type.Optional({ ...AccountId, maxLength: 64, description: 'A service account' }) },
    { additionalProperties: false },
  ),
  success: list,
});

export const adminAddIssuer = route('adminAddIssuer', 'POST /admin/issuers', {
  ...changing,
  summary: 'Add an issuer of identity tokens',
  body: json(AdminNewIssuerBody),
  success: { ...created, headers: { Location: '/admin/issuers/{id}' } },
  errors: ['issuer_url_refused', 'issuer_taken', 'issuer_limit_reached', 'account_not_found'],
});

export const adminGetIssuer = route('adminGetIssuer', 'GET /admin/issuers/:id', {
  ...administrator,
  ...ofIssuer,
  summary: 'Get an issuer',
  success: issuer,
  errors: ['issuer_not_found'],
});

export const adminChangeIssuer = route('adminChangeIssuer', 'PATCH /admin/issuers/:id', {
  ...changing,
  ...ofIssuer,
  summary: 'Change an issuer',
  description: narrowing,
  body: json(IssuerChangeBody),
  success: issuer,
  errors: ['issuer_not_found', 'issuer_url_refused'],
});

export const adminRemoveIssuer = route('adminRemoveIssuer', 'DELETE /admin/issuers/:id', {
  ...changing,
  ...ofIssuer,
  summary: 'Remove an issuer',
  description: removal,
  success: removed,
  errors: ['issuer_not_found'],
});

export const adminRefreshIssuer = route('adminRefreshIssuer', 'POST /admin/issuers/:id/refresh', {
  ...changing,
  ...ofIssuer,
  summary: 'Fetch the JWK set of an issuer',
  description:
    'Every exchange that starts after the response uses a JWK set that was fetched later than the request, on every instance.',
  success: { status: 200, description: 'The keys, or why they cannot be fetched', schema: IssuerKeySet },
  errors: ['issuer_not_found'],
});

const accountPath = '/auth/service-accounts/:accountId/issuers';
const reading = { tag: 'Service accounts', auth: 'manager' } as const;
const byManagementKey = { tag: 'Service accounts', auth: 'management_key' } as const;
const ofAccount = { params: Type.Object({ accountId: AccountId }) } as const;
const ofAccountIssuer = { params: Type.Object({ accountId: AccountId, id: IssuerId }) } as const;

export const listServiceAccountIssuers = route('listServiceAccountIssuers', `GET ${accountPath}`, {
  ...reading,
  ...ofAccount,
  summary: 'List the issuers of a service account',
  description: 'Only keys of the service account may trust them.',
  success: list,
  errors: ['account_not_found'],
});

export const addServiceAccountIssuer = route('addServiceAccountIssuer', `POST ${accountPath}`, {
  ...byManagementKey,
  ...ofAccount,
  summary: 'Add an issuer of a service account',
  description: 'Its keys trust it before an issuer with the same URL that the keys of all accounts may trust.',
  body: json(NewIssuerBody),
  success: { ...created, headers: { Location: '/auth/service-accounts/{accountId}/issuers/{id}' } },
  errors: [
    'management_key_required',
    'issuer_url_refused',
    'issuer_taken',
    'issuer_limit_reached',
    'account_not_found',
    'too_many_changes',
  ],
});

export const getServiceAccountIssuer = route('getServiceAccountIssuer', `GET ${accountPath}/:id`, {
  ...reading,
  ...ofAccountIssuer,
  summary: 'Get an issuer of a service account',
  success: issuer,
  errors: ['account_not_found', 'issuer_not_found'],
});

export const changeServiceAccountIssuer = route('changeServiceAccountIssuer', `PATCH ${accountPath}/:id`, {
  ...byManagementKey,
  isNarrowing: true,
  ...ofAccountIssuer,
  summary: 'Change an issuer of a service account',
  description: narrowing,
  body: json(IssuerChangeBody),
  success: issuer,
  errors: [
    'management_key_required',
    'account_not_found',
    'issuer_not_found',
    'issuer_url_refused',
    'too_many_changes',
  ],
});

export const removeServiceAccountIssuer = route('removeServiceAccountIssuer', `DELETE ${accountPath}/:id`, {
  ...byManagementKey,
  isNarrowing: true,
  ...ofAccountIssuer,
  summary: 'Remove an issuer of a service account',
  description: removal,
  success: removed,
  errors: ['management_key_required', 'account_not_found', 'issuer_not_found'],
});

export const issuerRoutes = [
  listServiceAccountIssuers,
  addServiceAccountIssuer,
  getServiceAccountIssuer,
  changeServiceAccountIssuer,
  removeServiceAccountIssuer,
] as const;

export const issuerAdminRoutes = [
  adminListIssuers,
  adminAddIssuer,
  adminGetIssuer,
  adminChangeIssuer,
  adminRemoveIssuer,
  adminRefreshIssuer,
] as const;
