/** Creates the modules of programs on devices, and of the persons who approve their requests. */
import { Approvals } from '../../modules/approvals/approvals.ts';
import { ApprovalCodes } from '../../modules/approvals/codes.ts';
import { DeviceKeys } from '../../modules/approvals/device-keys.ts';
import { DeviceMail } from '../../modules/approvals/device-mail.ts';
import { DeviceRequests } from '../../modules/approvals/device-requests.ts';
import { KeyRevocations } from '../../modules/approvals/key-revocations.ts';
import { Programs } from '../../modules/programs/programs.ts';
import { ApprovalLimits } from '../../modules/rate-limits/approval-limits.ts';
import type { WiringCore } from './core.ts';
import type { KeyServices } from './keys.ts';
import type { SignInServices } from './sign-in.ts';
import { keyRulesOf } from './verification.ts';

/** Where people enter the code of a program, below the address of the console. */
const approvalPath = '/console/device';

export function wireApprovals(wiring: WiringCore, signIn: SignInServices, { apiKeys, keyChanges, uses }: KeyServices) {
  const { areRequestsLimited, config, core, issuer, keys, mailer } = wiring;
  const { corsOrigins, keyLifetimeDaysMax: lifetimeDaysMax, keysPerAccountMax } = config;
  const keyRules = keyRulesOf(wiring);
  const { hasCatalogue } = keyRules;
  const pendingKeys = apiKeys.pending;
  const codes = new ApprovalCodes(keys.oneTimeCodeHash);
  const approvalLimits = new ApprovalLimits({ ...core, bucketHash: keys.rateLimitBucket, enabled: areRequestsLimited });
  const programs = new Programs({ ...core, pendingKeys });
  const approvals = new Approvals({ ...core, codes, approvalLimits, hasCatalogue, keysPerAccountMax });
  const { counts } = approvals;
  const deviceMail = new DeviceMail({
    ...core,
    approvalLimits,
    codes: wiring.codes,
    mailer,
    pendingKeys,
    requests: signIn.requests,
  });
  const deviceKeys = new DeviceKeys({
    ...core,
    apiKeys,
    keyChanges,
    lifetimeDaysMax,
    mail: deviceMail,
    flushUses: () => uses.flush(),
    counts,
  });
  const deviceRequests = new DeviceRequests({
    ...core,
    codes,
    approvalLimits,
    keys: deviceKeys,
    lifetimeDaysMax,
    pending: { requests: approvals.pending, programs: programs.pending },
    counts,
    corsOrigins,
    verificationUri: config.hasConsole ? `${config.consoleUrl ?? issuer}${approvalPath}` : undefined,
  });
  const keyRevocations = new KeyRevocations({ ...core, ...keyRules, pendingKeys });
  return { programs, approvals, deviceMail, deviceRequests, keyRevocations };
}
