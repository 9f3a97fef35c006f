/** English texts, one file for each area. Functions insert values; `Intl` formats numbers and times (format.ts). */
import { fields } from './en/fields.ts';
import { general } from './en/general.ts';
import { problems } from './en/problems.ts';
import { signIn } from './en/sign-in.ts';
import { keys } from './en/keys.ts';
import { security } from './en/security.ts';
import { account } from './en/account.ts';
import { palette } from './en/palette.ts';
import { serviceAccounts } from './en/service-accounts.ts';

export const en = { general, fields, problems, signIn, keys, security, account, palette, serviceAccounts };
