/** The texts of the administrators' pages in the user's language. They load with these pages. */
import { locale } from './text.ts';
import type { AdminTexts } from './texts.ts';

/** Defined before the first of these pages is rendered. */
export let adminText: AdminTexts;

export async function loadAdminTexts(): Promise<void> {
  if (/^de/i.test(locale)) ({ deAdmin: adminText } = await import('./de-admin.ts'));
  else ({ enAdmin: adminText } = await import('./en-admin.ts'));
  if (locale === 'en-XA' || locale === 'ar-XB') adminText = (await import('./pseudo.ts')).pseudo(adminText);
}
