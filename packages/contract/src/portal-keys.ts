/** The API keys of a portal session: those of its service account. The routes derive from those of an account’s own keys. */
import Type, { type Static } from 'typebox';
import {
  changeKey,
  endPreviousSecret,
  getKey,
  KeyChangeBody,
  KeyDetails,
  rotateKey,
  RotationBody,
} from './api-key-changes.ts';
import { createKey, deleteKey, listKeys, NewKeyBody } from './api-keys.ts';
import { derivedRoute } from './derived-route.ts';
import { exampleOf } from './examples.ts';
import { getKeyUsage } from './key-usage.ts';
import { Named } from './named.ts';
import type { RouteContract } from './route.ts';

// Metadata is data of the operator’s own systems: the key page neither shows nor changes it.
const { metadata: _created, ...newKeyMembers } = NewKeyBody.properties;
const { metadata: _shown, ...shownMembers } = KeyDetails.properties;
const { nickname, scopes, expiresAt, addresses, limits } = KeyChangeBody.properties;
const { overlapSeconds, endPrevious, endCurrent } = RotationBody.properties;
const changes = { nickname, scopes, expiresAt, addresses, limits };

export const NewPortalKeyBody = Named('NewPortalApiKey', newKeyMembers, {
  examples: [exampleOf(NewKeyBody)],
});
export type NewPortalKeyBody = Static<typeof NewPortalKeyBody>;

export const PortalKeyDetails = Named('PortalApiKey', shownMembers, { description: 'Without `metadata`' });
export type PortalKeyDetails = Static<typeof PortalKeyDetails>;

/** Without `disabled`: a key that the operator disabled would be enabled by the person. */
export const PortalKeyChangeBody = Named('PortalApiKeyChange', changes, {
  minProperties: 1,
  examples: [{ nickname: 'billing worker' }],
  description: 'A merge patch, as `ApiKeyChange`',
});
export type PortalKeyChangeBody = Static<typeof PortalKeyChangeBody>;

export const PortalRotationBody = Named(
  'PortalApiKeyRotation',
  { overlapSeconds, endPrevious, endCurrent },
  { examples: [exampleOf(Type.Object({ overlapSeconds }))] },
);
export type PortalRotationBody = Static<typeof PortalRotationBody>;

const ofPortal = derivedRoute({
  tag: 'Key page',
  auth: 'portal_session',
  path: '/auth/portal/',
  params: {},
  owner: 'a portal session’s',
  description: 'for the service account of the portal session.',
  errors: ['portal_capability_required'],
  // Errors of requests by persons. Keys of other accounts do not exist for the session.
  without: ['not_key_owner', 'reauth_required', 'administrator_required', 'email_unverified'],
});

const created = ofPortal('createPortalKey', createKey);
export const createPortalKey = {
  ...created,
  description: `${created.description} Requires the capability \`create\`. The key has only scopes of the session.`,
  body: { type: 'json', schema: NewPortalKeyBody },
  success: { ...created.success, headers: { Location: '/auth/portal/api-keys/{id}' } },
} as const satisfies RouteContract;

const requires = <D extends { readonly description: string }>(derived: D, sentence: string): D => ({
  ...derived,
  description: `${derived.description} ${sentence}`,
});

export const listPortalKeys = requires(
  ofPortal('listPortalKeys', listKeys),
  'Requires the capability `read`. Keys with reserved scopes are not shown.',
);

const got = requires(ofPortal('getPortalKey', getKey), 'Requires the capability `read`.');
export const getPortalKey = {
  ...got,
  success: { ...got.success, schema: PortalKeyDetails },
} as const satisfies RouteContract;

const changed = requires(
  ofPortal('changePortalKey', changeKey),
  'Requires the capability `limit`; for the nickname alone, `create` is sufficient. All `scopes` of the body must be scopes of the session.',
);
export const changePortalKey = {
  ...changed,
  body: { type: 'json', schema: PortalKeyChangeBody },
  success: { ...changed.success, schema: PortalKeyDetails },
} as const satisfies RouteContract;

const rotated = requires(
  ofPortal('rotatePortalKey', rotateKey, ['scope_not_entitled']),
  'Requires the capability `rotate`, and that all scopes of the key are scopes of the session.',
);
export const rotatePortalKey = {
  ...rotated,
  body: { ...rotated.body, schema: PortalRotationBody },
} as const satisfies RouteContract;

export const endPortalKeyPreviousSecret = requires(
  ofPortal('endPortalKeyPreviousSecret', endPreviousSecret),
  'Requires the capability `rotate`.',
);

export const getPortalKeyUsage = requires(
  ofPortal('getPortalKeyUsage', getKeyUsage),
  'Requires the capability `read`.',
);

export const deletePortalKey = requires(ofPortal('deletePortalKey', deleteKey), 'Requires the capability `delete`.');

export const portalKeyRoutes = [
  createPortalKey,
  listPortalKeys,
  getPortalKey,
  changePortalKey,
  rotatePortalKey,
  endPortalKeyPreviousSecret,
  getPortalKeyUsage,
  deletePortalKey,
] as const;
