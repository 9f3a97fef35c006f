/** Creates self-service and administration. */
import { Administration } from '../../modules/administration/administration.ts';
import { Directory } from '../../modules/administration/directory.ts';
import { EmailSetting } from '../../modules/administration/email-setting.ts';
import { FirstAdministrator } from '../../modules/administration/first-administrator.ts';
import { KeyCreation } from '../../modules/administration/key-creation.ts';
import { KeyFinder } from '../../modules/administration/key-finder.ts';
import { SelfService } from '../../modules/self-service/self-service.ts';
import { deleteCodeFile } from '../installation/first-start.ts';
import type { WiringCore } from './core.ts';
import type { KeyServices } from './keys.ts';
import type { SignInServices } from './sign-in.ts';

export function wireAccounts(wiring: WiringCore, signIn: SignInServices, keys: KeyServices) {
  const { config, core, codes, links, mailer, outbox } = wiring;
  const { accounts, currentPassword, hasher, requests, rules, secondFactors, signInLimits } = signIn;
  const mail = { codes, links, mailer };
  const { isSignUpOpen } = config;
  const onCreated = () => deleteCodeFile(config);
  const { apiKeys, keyChanges, keyTokens, keyUsage } = keys;
  const keyCreation = new KeyCreation({
    ...core,
    apiKeys,
    bucketHash: wiring.creationLimits?.bucketHash,
    mailer,
    ownerProofs: signIn.ownerProofs,
    serviceAccounts: keys.serviceAccounts,
  });
  const managed = { apiKeys, keyChanges, keyTokens, keyUsage, managedChanges: wiring.creationLimits };
  return {
    selfService: new SelfService({
      ...core,
      ...mail,
      accounts: accounts.revocations,
      currentPassword,
      hasher,
      isSignUpOpen,
      outbox,
      requests,
      rules,
      secondFactors,
      signInLimits,
    }),
    administration: new Administration({ ...core, ...mail, ...managed, accounts, signInLimits }),
    directory: new Directory(core),
    emailSetting: new EmailSetting({ ...core, codes, mailer }),
    firstAdministrator: new FirstAdministrator({ ...core, codes, hasher, rules, onCreated }),
    keyCreation,
    /** Undefined unless KEYREEVE_CONSOLE_MANAGEMENT_KEYS is on. */
    managementKeys: config.hasManagementKeys ? keyCreation : undefined,
    keyFinder: new KeyFinder({ ...core, hash: wiring.keys.apiKeyHash, apiKeys }),
  };
}
