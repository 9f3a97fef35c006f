/** Creates the issuers of identity tokens, and what verifies these tokens. */
import { AddressGuard } from '../../foundation/outgoing/address-guard.ts';
import { IdentityTokens } from '../../modules/issuers/identity-tokens.ts';
import { Issuers } from '../../modules/issuers/issuers.ts';
import { KeySets } from '../../modules/issuers/key-sets.ts';
import type { WiringCore } from './core.ts';

export function wireIssuers({ config, core, creationLimits, log }: WiringCore) {
  const guard = new AddressGuard(config.issuerTargets);
  const keySets = new KeySets({
    guard,
    authorities: config.issuerAuthorities,
    onFailure: ({ id, url }, error) =>
      log?.warn({ event: 'issuer_keys_not_fetched', issuerId: id, issuer: url, err: error }),
  });
  return {
    keySets,
    issuers: new Issuers({ ...core, guard, keySets, managedChanges: creationLimits }),
    identityTokens: new IdentityTokens(keySets),
  };
}
