/** German texts. The file is loaded only for German browsers. */
import { fields } from './de/fields.ts';
import { general } from './de/general.ts';
import { problems } from './de/problems.ts';
import { signIn } from './de/sign-in.ts';
import { keys } from './de/keys.ts';
import { security } from './de/security.ts';
import { account } from './de/account.ts';
import { palette } from './de/palette.ts';
import { serviceAccounts } from './de/service-accounts.ts';
import type { Texts } from './texts.ts';

export const de: Texts = { general, fields, problems, signIn, keys, security, account, palette, serviceAccounts };
