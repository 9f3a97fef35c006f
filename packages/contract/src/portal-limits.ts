/** Limits of portal sessions. Part of the tables in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';

export const portalLimits = {
  portalTokenSeconds: limit(60, 'Validity of the token in the `url` of a portal session.', 'portal_token_invalid'),
  portalSessionSeconds: limit(
    3_600,
    'Longest duration of a portal session, from its creation.',
    'portal_session_ended',
  ),
  portalSessionsMax: limit(
    100,
    'Open portal sessions of one service account. One more ends one of the person who has the most.',
    'portal_session_ended',
  ),
  portalSessionsPerHourMax: limit(
    600,
    'Portal sessions of one service account that are created in an hour.',
    'too_many_portal_sessions',
  ),
  portalSessionsPerOwnerMax: limit(
    20_000,
    'Portal sessions that the management keys of one account create in an hour.',
    'too_many_portal_sessions',
  ),
  portalOriginCharsMax: limit(255, 'The `origin` of a portal session.', 'invalid_request'),
  portalReturnUrlCharsMax: limit(2_048, 'The `returnUrl` of a portal session.', 'invalid_request'),
  portalPersonIdCharsMax: limit(128, 'The `person.id` of a portal session.', 'invalid_request'),
  portalPersonNameBytesMax: limit(100, 'The `person.name` of a portal session in UTF-8.', 'invalid_request'),
} as const satisfies Limits;
