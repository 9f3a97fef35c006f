/** Errors of portal sessions, with which the key page works. Part of the registry in ../errors.ts. */
import type { ErrorDefinition } from './definition.ts';
import { waitAndRetry } from './texts.ts';
import { limits } from '../limits.ts';

export const portalErrors = {
  portal_session_not_found: {
    status: 404,
    title: 'No such portal session',
    meaning: 'No portal session has this id, it has ended, or the management key of another account created it.',
    cause: 'The portal session has ended already, or the id is wrong.',
    fix: 'Copy the complete id from the response to `POST /auth/portal-sessions`.',
  },
  portal_token_invalid: {
    status: 401,
    title: 'The token of the portal session is not valid',
    meaning: `The token works once, within ${limits.portalTokenSeconds} seconds after the portal session was created.`,
    cause: 'The token was used already, has expired, or is wrong, or the portal session has ended.',
    fix: 'Load the frame, or open the page, from your own application again, which creates a new portal session.',
  },
  portal_session_ended: {
    status: 401,
    title: 'The portal session has ended',
    meaning: `A portal session lasts at most ${limits.portalSessionSeconds / 60} minutes. It ends earlier with its management key, with the rights of that key, or with the service account.`,
    cause:
      'The portal session has expired or was ended; or its management key was deleted or rotated, has expired, is disabled or lacks its scope; or an account is disabled, or does not manage the service account; or the request has no secret of a portal session.',
    fix: 'Load the frame, or open the page, from your own application again, which creates a new portal session.',
  },
  portal_capability_required: {
    status: 403,
    title: 'The portal session lacks a capability',
    meaning: 'Your application gave the portal session only some of the capabilities.',
    cause: 'The request needs a capability that is not in `capabilities` of `POST /auth/portal-sessions`.',
    fix: 'Create the portal session with the capability that `detail` names, if the person may have it.',
  },
  too_many_portal_sessions: {
    status: 429,
    title: 'Too many portal sessions',
    meaning: `At most ${limits.portalSessionsPerHourMax.toLocaleString('en')} portal sessions of one service account are created in an hour, and at most ${limits.portalSessionsPerOwnerMax.toLocaleString('en')} by the management keys of one account.`,
    cause:
      'Your application creates portal sessions faster than people open the key page, for example in a loop of reloads.',
    fix: waitAndRetry,
  },
} as const satisfies Record<string, ErrorDefinition>;
