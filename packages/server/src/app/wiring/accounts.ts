/** Creates self-service and administration. */
import { Administration } from '../../modules/administration/administration.ts';
import { Directory } from '../../modules/administration/directory.ts';
import { EmailSetting } from '../../modules/administration/email-setting.ts';
import { FirstAdministrator } from '../../modules/administration/first-administrator.ts';
import { KeyFinder } from '../../modules/administration/key-finder.ts';
import { SelfService } from '../../modules/self-service/self-service.ts';
import { deleteCodeFile } from '../installation/first-start.ts';
import type { WiringCore } from './core.ts';
import type { KeyServices } from './keys.ts';
import type { SignInServices } from './sign-in.ts';

export function wireAccounts(core: WiringCore, signIn: SignInServices, keys: KeyServices) {
  const { config } = core;
  const parts = { ...core, ...signIn };
  return {
    selfService: new SelfService({
      ...parts,
      accounts: signIn.accounts.revocations,
      isSignUpOpen: config.isSignUpOpen,
    }),
    administration: new Administration({ ...parts, ...keys, managedChanges: core.creationLimits }),
    directory: new Directory(core),
    emailSetting: new EmailSetting(core),
    firstAdministrator: new FirstAdministrator({ ...parts, onCreated: () => deleteCodeFile(config) }),
    keyFinder: new KeyFinder({ ...core, hash: core.keys.apiKeyHash, apiKeys: keys.apiKeys }),
  };
}
