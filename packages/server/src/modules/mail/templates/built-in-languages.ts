/** The built-in templates of every language. */
import type { Language } from '@keyreeve/contract';
import type { MailTemplate } from '../mail.ts';
import { builtInGerman } from './built-in.de.ts';
import { builtIn, type PlainTemplate } from './built-in.ts';

export const builtInOf: Readonly<Record<Language, Readonly<Record<MailTemplate, PlainTemplate>>>> = {
  en: builtIn,
  de: builtInGerman,
};
