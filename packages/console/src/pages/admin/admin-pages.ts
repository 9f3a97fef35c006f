/** The pages of administrators, in the order of their navigation. */
import { root } from '../../root.ts';
import { adminText } from '../../text/admin-text.ts';
import { text } from '../../text/text.ts';

export const adminPages = (): readonly { readonly href: string; readonly label: string }[] =>
  (
    [
      ['overview', adminText.general.overview],
      ['accounts', adminText.general.accounts],
      ['keys', text.general.keys],
      ['scopes', text.keys.scopes],
      ['issuers', adminText.issuers.title],
      ['programs', adminText.programs.title],
      ['audit', adminText.general.audit],
      ['webhooks', adminText.general.webhooks],
      ['mail', adminText.general.mail],
      ['jobs', adminText.general.jobs],
      ['signing-keys', adminText.general.signingKeys],
      ['settings', adminText.general.settings],
    ] as const
  ).map(([name, label]) => ({ href: `${root}/admin/${name}`, label }));
