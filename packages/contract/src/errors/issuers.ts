/** Errors of issuers of identity tokens. Part of the registry in ../errors.ts. */
import type { ErrorDefinition } from './definition.ts';
import { checkId } from './texts.ts';
import { limits } from '../limits.ts';

export const issuerErrors = {
  issuer_url_refused: {
    status: 400,
    title: 'The URL of the issuer is not allowed',
    meaning:
      'The URL of an issuer is the claim iss of its tokens: https on port 443 and a public host, without a user, a password, a query or a fragment. An operator can allow internal hosts with KEYREEVE_ISSUER_TARGETS, or state a fixed JWK set.',
    cause:
      'The URL is not written as in the tokens, does not use https on port 443, or its host has an internal IP address.',
    fix: 'Copy the claim `iss` of a token. For an internal issuer, the operator sets `KEYREEVE_ISSUER_TARGETS`, or the request has a fixed JWK set in `jwks`.',
  },
  issuer_not_found: {
    status: 404,
    title: 'No such issuer',
    meaning: 'No issuer has this id.',
    cause: 'No issuer has this id, or it belongs to another service account. It may have been removed.',
    fix: checkId,
  },
  issuer_taken: {
    status: 409,
    title: 'The issuer exists',
    meaning:
      'An issuer with this URL exists: one for the keys of all accounts, and one for each service account. Change that one.',
    cause: 'An issuer with the same URL has been added already.',
    fix: 'List the issuers, and change the existing one with `PATCH`.',
  },
  issuer_limit_reached: {
    status: 409,
    title: 'The maximum number of issuers exists',
    meaning: `There are at most ${limits.issuersMax} issuers for the keys of all accounts, and ${limits.issuersPerAccountMax} for each service account. Remove one that is no longer used.`,
    cause: 'The installation or the service account has the maximum number of issuers.',
    fix: 'Remove one that is no longer used. `keys` in the list is the number of keys that trust it.',
  },
} as const satisfies Record<string, ErrorDefinition>;
