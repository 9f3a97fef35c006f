/** Limits of single sign-on. Part of those of the console. */
import { limit, type Limits } from './limit-definition.ts';

export const singleSignOnLimits = {
  singleSignOnSeconds: limit(600, 'Time from the start of a single sign-on to the provider’s response.'),
  singleSignOnReturnPathCharsMax: limit(200, 'The path of the page to open after a single sign-on.'),
  identityProviderSecondsMax: limit(5, 'Wait for a response of the OpenID provider.', 'identity_provider_unavailable'),
  identityProviderBytesMax: limit(262_144, 'A response of the OpenID provider.'),
  identityProviderRefreshSeconds: limit(3_600, 'The provider’s configuration is read again after this time.'),
  identityProviderRetrySeconds: limit(5, 'After a failure, it is not read for this time.'),
  // OpenID Connect Core section 2: at most 255 ASCII characters.
  subjectCharsMax: limit(255, '`sub` and `sid` of the OpenID provider.'),
  logoutTokenSecondsMax: limit(300, 'Age of a logout token.'),
} as const satisfies Limits;
