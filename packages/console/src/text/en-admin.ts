/** English texts of the administrators' pages, one file for each area. */
import { accounts } from './en/admin/accounts.ts';
import { audit } from './en/admin/audit.ts';
import { general } from './en/admin/general.ts';
import { issuers } from './en/admin/issuers.ts';
import { jobs } from './en/admin/jobs.ts';
import { keys } from './en/admin/keys.ts';
import { mail } from './en/admin/mail.ts';
import { managementKeys } from './en/admin/management-keys.ts';
import { overview } from './en/admin/overview.ts';
import { problems } from './en/admin/problems.ts';
import { programs } from './en/admin/programs.ts';
import { protect } from './en/admin/protect.ts';
import { scopes } from './en/admin/scopes.ts';
import { webhooks } from './en/admin/webhooks.ts';
import { settings } from './en/admin/settings.ts';
import { signingKeys } from './en/admin/signing-keys.ts';

export const enAdmin = {
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
