/** Which capability of a portal session each of its routes requires: the only place that decides it. */
import type { PortalCapability, RouteContract } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import type { PortalPrincipal } from '../../foundation/principal.ts';

/** By the id of the route: one of these is sufficient. Empty: every session may call it. */
const required: Readonly<Record<string, readonly PortalCapability[]>> = {
  getPortalSession: [],
  endOwnPortalSession: [],
  listPortalKeys: ['read'],
  getPortalKey: ['read'],
  getPortalKeyUsage: ['read'],
  createPortalKey: ['create'],
  // What it may change depends on the members of the body.
  changePortalKey: ['limit', 'create'],
  rotatePortalKey: ['rotate'],
  endPortalKeyPreviousSecret: ['rotate'],
  deletePortalKey: ['delete'],
};

/**
 * The session never gets other capabilities, so no transaction checks them again.
 * @throws DomainError `portal_capability_required`
 */
export function assertMayCall({ id }: Pick<RouteContract, 'id'>, principal: PortalPrincipal): void {
  const sufficient = required[id];
  if (sufficient === undefined) throw new Error(`no capability is declared for ${id}`);
  if (sufficient.length > 0) assertOneOf(sufficient, principal);
}

/**
 * The nickname is that of a creation, too.
 * @param members of the body
 * @throws DomainError `portal_capability_required`
 */
export function assertMayChange(members: readonly string[], principal: PortalPrincipal): void {
  if (members.some((member) => member !== 'nickname')) assertOneOf(['limit'], principal);
}

function assertOneOf(sufficient: readonly PortalCapability[], { capabilities }: PortalPrincipal): void {
  if (sufficient.some((capability) => capabilities.includes(capability))) return;
  const names = sufficient.map((name) => `\`${name}\``).join(' or ');
  throw new DomainError('portal_capability_required', {
    detail: `The request needs the capability ${names}, which the portal session lacks.`,
  });
}
