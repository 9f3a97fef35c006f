/** German texts of the administrators' pages. The file is loaded only for German browsers. */
import { accounts } from './de/admin/accounts.ts';
import { audit } from './de/admin/audit.ts';
import { general } from './de/admin/general.ts';
import { issuers } from './de/admin/issuers.ts';
import { jobs } from './de/admin/jobs.ts';
import { keys } from './de/admin/keys.ts';
import { mail } from './de/admin/mail.ts';
import { managementKeys } from './de/admin/management-keys.ts';
import { overview } from './de/admin/overview.ts';
import { problems } from './de/admin/problems.ts';
import { programs } from './de/admin/programs.ts';
import { protect } from './de/admin/protect.ts';
import { scopes } from './de/admin/scopes.ts';
import { webhooks } from './de/admin/webhooks.ts';
import { settings } from './de/admin/settings.ts';
import { signingKeys } from './de/admin/signing-keys.ts';
import type { AdminTexts } from './texts.ts';

export { serverSentences } from './de/admin/server-sentences.ts';

export const deAdmin: AdminTexts = {
  general,
  overview,
  problems,
  protect,
  accounts,
  keys,
  webhooks,
  scopes,
  mail,
  issuers,
  programs,
  jobs,
  managementKeys,
  signingKeys,
  settings,
  audit,
};
