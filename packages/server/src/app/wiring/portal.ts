/** Creates the modules of portal sessions and of the key page. */
import { PortalSecrets } from '../../modules/portal/secrets.ts';
import { PortalSessions } from '../../modules/portal/sessions.ts';
import { PortalStates } from '../../modules/portal/state.ts';
import type { Portal } from '../../modules/portal/routes.ts';
import { pageFactsOf } from './console.ts';
import type { WiringCore } from './core.ts';
import type { KeyServices } from './keys.ts';
import type { SignInServices } from './sign-in.ts';
import { keyRulesOf } from './verification.ts';

export function wirePortal(wiring: WiringCore, signIn: SignInServices, keys: KeyServices): Portal {
  const { config, core, creationLimits, issuer } = wiring;
  const { hasCatalogue } = keyRulesOf(wiring);
  const { scopeCatalogue, serviceAccounts } = keys;
  const { origin } = new URL(issuer);
  const { shown, features } = pageFactsOf(wiring);
  const sessions = new PortalSessions({
    ...core,
    secrets: new PortalSecrets(wiring.keys.portalSessionHash),
    serviceAccounts,
    publicUrl: issuer,
    ownOrigins: [origin, new URL(config.consoleUrl ?? issuer).origin],
    hasCatalogue,
    bucketHash: creationLimits?.bucketHash,
    pendingKeys: keys.apiKeys.pending,
    pendingAccounts: signIn.accounts.revocations.unfinished,
  });
  const { clock } = core;
  const states = new PortalStates({ clock, scopeCatalogue, hasCatalogue, fixed: { ...shown, ...features } });
  return { sessions, states, origin };
}
