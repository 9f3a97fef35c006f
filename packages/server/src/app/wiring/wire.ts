/** Creates all modules and connects them: the composition root. `service.ts` adds HTTP, `cli/` the command line. */
import { wireAccounts } from './accounts.ts';
import { wireConsole } from './console.ts';
import { newCore, type WiringOptions } from './core.ts';
import { wireKeys } from './keys.ts';
import { wireMail } from './mail.ts';
import { wireObservation } from './observation.ts';
import { wireSignIn } from './sign-in.ts';
import { wireSingleSignOn } from './single-sign-on.ts';

/** What each area returns. */
export interface Services extends ReturnType<typeof wire> {}

export function wire(options: WiringOptions) {
  const core = newCore(options);
  const signIn = wireSignIn(core);
  const keys = wireKeys(core, signIn);
  const accounts = wireAccounts(core, signIn, keys);
  const console = wireConsole(core, signIn);
  const { journal } = core;
  return {
    ...wireMail(core, signIn),
    ...wireObservation(core, { ...signIn, ...keys, ...accounts }),
    ...signIn,
    ...keys,
    ...accounts,
    journal,
    /** Undefined if it is off. */
    console,
    /** Undefined unless it is configured. */
    singleSignOn: console && wireSingleSignOn(core, signIn, console),
  };
}
