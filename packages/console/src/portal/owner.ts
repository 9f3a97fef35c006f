/** The keys of the portal session's service account, and what the session may do with them. */
import type { KeyOwner } from '../pages/keys/key-owner.ts';
import { keyRequests } from '../pages/keys/key-requests.ts';
import { whenNoDialogIsOpen } from '../parts/waiting.ts';
import { text } from '../text/text.ts';
import type { Host } from './host.ts';
import { refresh, request, type PortalSession } from './session.ts';

/** The views of the page. */
export const listPath = 'keys';
const keyPath = (id: number): string => `${listPath}/${id}`;

/** @returns undefined for the list */
export const keyIdOf = (path: string): number | undefined => {
  const id = Number(path.split('/')[1]);
  return Number.isInteger(id) ? id : undefined;
};

/** @param host gets a message about each change; about a new secret, only after its dialog was closed: the host could remove the frame */
export function keysOfPortal(
  { capabilities, scopes, anyScope }: Pick<PortalSession, 'capabilities' | 'scopes' | 'anyScope'>,
  { send }: Host,
): KeyOwner {
  const has = (capability: (typeof capabilities)[number]): boolean => capabilities.includes(capability);
  const requests = keyRequests(request as Parameters<typeof keyRequests>[0], '/auth/portal');
  const grantable = new Set(scopes.map(({ name }) => name));
  return {
    ...requests,
    listPath,
    listLabel: () => text.keys.all,
    keyPath,
    rights: {
      create: has('create'),
      rename: has('create') || has('limit'),
      scopes: has('limit'),
      limit: has('limit'),
      disable: false,
      // A new secret has the scopes of its key.
      rotate: (key) => has('rotate') && !key.trust && (anyScope || key.scopes.every((scope) => grantable.has(scope))),
      delete: has('delete'),
    },
    scopes: async (signal) => {
      const now = await refresh(signal);
      return {
        choices: now.scopes.map((scope) => ({ ...scope, mayGrant: true })),
        isFree: now.anyScope && now.scopes.length === 0,
      };
    },
    create: async (body) => {
      const created = await requests.create(body);
      whenNoDialogIsOpen(() => send({ type: 'created', keyId: created.id }));
      return created;
    },
    change: async (id, body) => {
      const changed = await requests.change(id, body);
      send({ type: 'changed', keyId: id });
      return changed;
    },
    rotate: async (id, body) => {
      const rotated = await requests.rotate(id, body);
      whenNoDialogIsOpen(() => send({ type: 'rotated', keyId: id }));
      return rotated;
    },
    endPrevious: async (id) => {
      await requests.endPrevious(id);
      send({ type: 'changed', keyId: id });
    },
    remove: async (id) => {
      await requests.remove(id);
      send({ type: 'deleted', keyId: id });
    },
  };
}
