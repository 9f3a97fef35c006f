/** The look of the installation, from its settings. */
import type { Look } from '../../modules/look/look.ts';
import { operatorName } from '../../modules/mail/sender.ts';
import type { Config } from './config.ts';

export const lookOf = (
  { mailFrom, mark, accent }: Pick<Config, 'mailFrom' | 'mark' | 'accent'>,
  publicUrl: string,
): Look => ({
  operator: operatorName(mailFrom, publicUrl),
  mark,
  accent,
});
