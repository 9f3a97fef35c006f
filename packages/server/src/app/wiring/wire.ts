/** Creates all modules and connects them: the composition root. `service.ts` adds HTTP, `cli/` the command line. */
import { Apply } from '../../modules/apply/apply.ts';
import { wireAccounts } from './accounts.ts';
import { wireApprovals } from './approvals.ts';
import { wireConsole } from './console.ts';
import { newCore, type WiringOptions } from './core.ts';
import { wireKeys } from './keys.ts';
import { wireMail } from './mail.ts';
import { wireObservation } from './observation.ts';
import { wirePortal } from './portal.ts';
import { wireSignIn } from './sign-in.ts';
import { wireSingleSignOn } from './single-sign-on.ts';

/** What each area returns. */
export interface Services extends ReturnType<typeof wire> {}

export function wire(options: WiringOptions) {
  const wiring = newCore(options);
  const signIn = wireSignIn(wiring);
  const keys = wireKeys(wiring, signIn);
  const approvals = wireApprovals(wiring, signIn, keys);
  const accounts = wireAccounts(wiring, signIn, keys);
  const portal = wirePortal(wiring, signIn, keys);
  const console = wireConsole(wiring, signIn);
  const observation = wireObservation(wiring, { ...signIn, ...keys, ...accounts });
  const { journal, core } = wiring;
  const { endpoints } = observation.webhooks;
  return {
    ...wireMail(wiring, signIn),
    ...observation,
    apply: new Apply({
      ...core,
      ...keys,
      ...approvals,
      administration: accounts.administration,
      accounts: signIn.accounts.revocations,
      endpoints,
      hash: wiring.keys.apiKeyHash,
    }),
    ...signIn,
    ...keys,
    ...approvals,
    ...accounts,
    portal,
    journal,
    /** Undefined if it is off. */
    console,
    /** Undefined unless it is configured. */
    singleSignOn: console && wireSingleSignOn(wiring, signIn, console),
  };
}
