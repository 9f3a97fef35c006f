/**
 * Portal sessions: with one, the key page manages the keys of one service account for a person who uses the product of the
 * operator of the management key. The backend of that product creates it; the key page redeems its token.
 */
import Type, { type Static } from 'typebox';
import { ExampleRequest } from './console.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { PortalCapabilityName, portalCapabilities, type PortalCapability } from './portal-capabilities.ts';
import { route } from './route.ts';
import { Instant, orNull, Scope, Text } from './schemas.ts';
import { ExternalId } from './service-accounts.ts';

/** The pages of portal sessions are below it. */
export const portalPath = '/portal';

const names = Object.keys(portalCapabilities) as PortalCapability[];

export const PortalSessionId = Text('por_5Nq8wXz2LkV7cRt0YbJm4H', 'Not a secret');

const Capabilities = Type.Array(PortalCapabilityName, {
  minItems: 1,
  maxItems: names.length,
  uniqueItems: true,
  description: 'None includes another. Without `read`, the key page shows no keys',
  examples: [['read', 'create', 'rotate', 'delete']],
});

const PersonId = Type.String({
  minLength: 1,
  maxLength: limits.portalPersonIdCharsMax,
  pattern: '^[!-~]+$',
  description:
    'Your own id of the person who opens the key page: ASCII without spaces. The audit log keeps it, so use no email address',
  examples: ['u_7'],
});
const PersonName = Type.String({
  minLength: 1,
  maxLength: limits.portalPersonNameBytesMax,
  description: `At most ${limits.portalPersonNameBytesMax} bytes; the rules of nicknames apply`,
  examples: ['Ada'],
});

export const PortalPerson = Named('PortalPerson', { id: PersonId, name: Type.Optional(PersonName) });
export type PortalPerson = Static<typeof PortalPerson>;

export const NewPortalSessionBody = Named(
  'NewPortalSession',
  {
    externalId: ExternalId,
    capabilities: Capabilities,
    scopes: Type.Optional(
      Type.Array(Scope, {
        maxItems: limits.scopesPerKeyMax,
        uniqueItems: true,
        description:
          'The scopes that keys may get in the session. Without it, all that the service account can give its keys',
        examples: [['orders:read']],
      }),
    ),
    person: Type.Optional(PortalPerson),
    origin: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.portalOriginCharsMax,
        description:
          'The origin of the page with the frame, as browsers write it: `https`, or `http` of the same machine. Only pages of this origin can show the key page. Without it, the key page opens as a page of its own',
        examples: ['https://app.example.com'],
      }),
    ),
    returnUrl: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.portalReturnUrlCharsMax,
        description: 'Where the key page links back to; of `origin`. Required without `origin`',
        examples: ['https://app.example.com/settings'],
      }),
    ),
  },
  {
    examples: [
      {
        externalId: 'tenant-7',
        capabilities: ['read', 'create', 'rotate', 'delete'],
        person: { id: 'u_7', name: 'Ada' },
        origin: 'https://app.example.com',
      },
    ],
  },
);
export type NewPortalSessionBody = Static<typeof NewPortalSessionBody>;

export const CreatedPortalSession = Named('CreatedPortalSession', {
  id: PortalSessionId,
  url: Text(
    'https://auth.example.com/portal/por_5Nq8wXz2LkV7cRt0YbJm4H#krvp_8fXq2LmZ…',
    'The URL of the frame or page. Its fragment is the token, which works once. No other response has it',
  ),
  expiresAt: Instant,
  tokenExpiresAt: Instant,
});
export type CreatedPortalSession = Static<typeof CreatedPortalSession>;

export const PortalScope = Named('PortalScope', {
  name: Text('orders:read'),
  description: Text('Read orders and their lines', 'Of the scope catalogue; empty if the scope is not declared'),
});

const state = {
  id: PortalSessionId,
  display: Type.Enum(['frame', 'page'], { description: '`page`: without a frame' }),
  origin: orNull(Text('https://app.example.com', 'null for a page')),
  returnUrl: orNull(Text('https://app.example.com/settings')),
  capabilities: Type.Array(PortalCapabilityName, { examples: [['read', 'create']] }),
  scopes: Type.Array(PortalScope, { description: 'The scopes that keys can get now' }),
  anyScope: Type.Boolean({ description: 'Whether keys can get other scopes, too: with `KEYREEVE_SCOPES=open`' }),
  person: orNull(Named('ShownPortalPerson', { id: Text('u_7'), name: orNull(Text('Ada')) })),
  serviceAccount: Named('PortalServiceAccount', { name: Text('billing') }),
  product: Text('Example', 'The operator’s name'),
  mark: orNull(Text('/account/mark', 'Path of an image: the operator’s mark')),
  verificationUrl: orNull(
    Text('https://auth.example.com', 'Where services verify credentials, if clients can reach it'),
  ),
  exampleRequest: orNull(ExampleRequest),
  environments: Type.Array(Text('live'), { description: 'Empty if the installation has none' }),
  usageDays: Type.Integer({ minimum: 0, description: 'Days for which usage is kept; 0: not counted', examples: [90] }),
  keyDaysMax: Type.Integer({
    minimum: 0,
    description: 'Longest lifetime of a new key in days; 0: no limit',
    examples: [365],
  }),
  expiresAt: Instant,
  now: Instant,
};

export const PortalSession = Named('PortalSession', state);
export type PortalSession = Static<typeof PortalSession>;

export const RedeemedPortalSession = Named('RedeemedPortalSession', {
  secret: Text('krvq_8fXq2LmZ…', 'The credential of the key page. No other response has it'),
  ...state,
});
export type RedeemedPortalSession = Static<typeof RedeemedPortalSession>;

export const PortalTokenBody = Named('PortalToken', {
  id: Type.String({ maxLength: 64, examples: ['por_5Nq8wXz2LkV7cRt0YbJm4H'] }),
  token: Type.String({ minLength: 1, maxLength: 128, examples: ['krvp_8fXq2LmZ…'] }),
});
export type PortalTokenBody = Static<typeof PortalTokenBody>;

const tag = 'Key page';

export const createPortalSession = route('createPortalSession', 'POST /auth/portal-sessions', {
  tag,
  summary: 'Create a portal session',
  description: `For a person who uses your product, and who may manage the keys of one of your service accounts. Send the browser to the \`url\` of the response within ${limits.portalTokenSeconds} seconds: the key page there redeems the token in its fragment. The session lasts at most ${limits.portalSessionSeconds / 60} minutes, and has at most the rights of the management key in each request.`,
  auth: 'management_key',
  body: { type: 'json', schema: NewPortalSessionBody },
  success: { status: 201, description: 'The new portal session', schema: CreatedPortalSession },
  errors: [
    'nickname_invalid',
    'scope_invalid',
    'management_key_required',
    'scope_not_entitled',
    'account_not_found',
    'too_many_portal_sessions',
  ],
});

export const endPortalSession = route('endPortalSession', 'DELETE /auth/portal-sessions/:id', {
  tag,
  summary: 'End a portal session',
  description: 'Every request of its key page that starts after the response is rejected, on every instance.',
  auth: 'management_key',
  params: Type.Object({ id: PortalSessionId }),
  isNarrowing: true,
  success: { status: 204, description: 'The portal session has ended' },
  errors: ['management_key_required', 'portal_session_not_found'],
});

export const redeemPortalToken = route('redeemPortalToken', 'POST /auth/portal/session', {
  tag,
  summary: 'Redeem the token of a portal session',
  description: `Only for the key page. The token works once, and for ${limits.portalTokenSeconds} seconds. The response is the same for every token that does not work.`,
  auth: 'one_time_code',
  headers: Type.Object({
    Origin: Text('https://auth.example.com', 'The origin of the public URL'),
  }),
  body: { type: 'json', schema: PortalTokenBody },
  success: { status: 201, description: 'The portal session and its secret', schema: RedeemedPortalSession },
  errors: ['portal_token_invalid', 'cross_origin_request'],
});

const ofPage = { tag, auth: 'portal_session' } as const;

export const getPortalSession = route('getPortalSession', 'GET /auth/portal/session', {
  ...ofPage,
  summary: 'Get the portal session of the key page',
  success: { status: 200, description: 'The portal session, and what the key page shows', schema: PortalSession },
});

export const endOwnPortalSession = route('endOwnPortalSession', 'DELETE /auth/portal/session', {
  ...ofPage,
  summary: 'End the portal session of the key page',
  description: 'Every request with its secret that starts after the response is rejected, on every instance.',
  isNarrowing: true,
  success: { status: 204, description: 'The portal session has ended' },
});

export const portalSessionRoutes = [
  createPortalSession,
  endPortalSession,
  redeemPortalToken,
  getPortalSession,
  endOwnPortalSession,
] as const;
