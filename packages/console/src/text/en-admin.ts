/** English texts of the administrators' pages, one file for each area. */
import { accounts } from './en/admin/accounts.ts';
import { general } from './en/admin/general.ts';
import { keys } from './en/admin/keys.ts';
import { problems } from './en/admin/problems.ts';
import { scopes } from './en/admin/scopes.ts';
import { webhooks } from './en/admin/webhooks.ts';

export const enAdmin = { general, problems, accounts, keys, webhooks, scopes };
