/** What a portal session may do with the keys of its service account. */
import Type, { type Static } from 'typebox';

/** In the order of the documentation. None includes another. */
export const portalCapabilities = {
  read: 'List the keys, and read one key and its usage.',
  create: 'Create keys, and change their nicknames.',
  rotate: 'Replace the secrets of keys, and end previous secrets.',
  limit: 'Change the scopes, IP ranges, expiry, limits and nicknames of keys.',
  delete: 'Delete keys.',
} as const;
export type PortalCapability = keyof typeof portalCapabilities;

export const PortalCapabilityName = Type.Enum(Object.keys(portalCapabilities) as PortalCapability[], {
  $id: 'PortalCapability',
  description: Object.entries(portalCapabilities)
    .map(([name, meaning]) => `\`${name}\`: ${meaning}`)
    .join(' '),
});
export type PortalCapabilityName = Static<typeof PortalCapabilityName>;
