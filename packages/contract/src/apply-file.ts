/** The file of `keyreeve apply` (docs/apply.md): what an installation shall have. It is no part of the HTTP API. */
import Type, { type Static } from 'typebox';
import { IssuerChangeBody, NewIssuerBody } from './issuers.ts';
import { KeyLimits } from './key-limits.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { ProgramId } from './program-id.ts';
import { Email, orNull, Role, Scope } from './schemas.ts';
import { WebhookEventType, webhookEvents } from './webhooks.ts';

const state = Type.Optional(Type.Enum(['present', 'absent'], { description: 'Default: present' }));
/** The rules of nicknames apply, which JSON Schema cannot express. */
const Name = Type.String({ minLength: 1, maxLength: limits.nicknameBytesMax });
const ofAccount = {
  entitlements: Type.Optional(Type.Array(Scope, { maxItems: limits.entitlementsPerAccountMax, uniqueItems: true })),
  limits: Type.Optional(KeyLimits),
  state,
};
const list = <S extends Type.TSchema>(schema: S) =>
  Type.Optional(Type.Array(schema, { maxItems: limits.applyEntriesMax }));

export const AppliedScope = Named('AppliedScope', {
  name: Scope,
  description: Type.Optional(Type.String({ maxLength: limits.scopeDescriptionCharsMax })),
  entitled: Type.Optional(Type.Boolean()),
  state,
});
export const AppliedAccount = Named('AppliedAccount', { email: Email, role: Type.Optional(Role), ...ofAccount });
export const AppliedServiceAccount = Named('AppliedServiceAccount', { name: Name, ...ofAccount });
export const AppliedProgram = Named('AppliedProgram', {
  id: ProgramId,
  name: Type.Optional(Name),
  scopes: Type.Optional(Type.Array(Scope, { maxItems: limits.scopesPerKeyMax, uniqueItems: true })),
  lifetimeSeconds: Type.Optional(
    Type.Integer({ minimum: limits.programLifetimeSecondsMin, maximum: limits.programLifetimeSecondsMax }),
  ),
  state,
});
export const AppliedIssuer = Named('AppliedIssuer', {
  ...NewIssuerBody.properties,
  ...IssuerChangeBody.properties,
  state,
});
export const AppliedKey = Named('AppliedKey', {
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Of the secret, which has 256 random bits' }),
  serviceAccount: Type.Optional(Name),
  nickname: Type.Optional(Name),
  scopes: Type.Optional(Type.Array(Scope, { maxItems: limits.scopesPerKeyMax, uniqueItems: true })),
  expiresAt: Type.Optional(orNull(Type.String({ format: 'date-time', maxLength: 35 }))),
  addresses: Type.Optional(
    orNull(
      Type.Array(Type.String({ minLength: 1, maxLength: limits.cidrCharsMax }), {
        minItems: 1,
        maxItems: limits.addressesPerKeyMax,
      }),
    ),
  ),
  limits: Type.Optional(KeyLimits),
  state,
});
export const AppliedWebhook = Named('AppliedWebhook', {
  name: Name,
  url: Type.Optional(Type.String({ minLength: 1, maxLength: limits.webhookUrlCharsMax })),
  events: Type.Optional(
    Type.Array(WebhookEventType, { minItems: 1, maxItems: webhookEvents.length, uniqueItems: true }),
  ),
  secretFile: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096 })),
  state,
});

export const ApplyFile = Named('ApplyFile', {
  generation: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  scopes: list(AppliedScope),
  accounts: list(AppliedAccount),
  serviceAccounts: list(AppliedServiceAccount),
  issuers: list(AppliedIssuer),
  keys: list(AppliedKey),
  webhooks: list(AppliedWebhook),
  programs: list(AppliedProgram),
});
export type ApplyFile = Static<typeof ApplyFile>;
