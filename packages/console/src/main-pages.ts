/** The main pages, in the order of the navigation. */
import type { IconName } from './parts/icon.tsx';
import { root } from './root.ts';
import { isAdministrator, showsServiceAccounts } from './session.ts';
import { text } from './text/text.ts';

export interface MainPage {
  readonly href: string;
  readonly label: string;
  readonly icon: IconName;
}

export const mainPages = (): readonly MainPage[] => [
  { href: `${root}/keys`, label: text.general.keys, icon: 'key' },
  ...(showsServiceAccounts.value
    ? [{ href: `${root}/service-accounts`, label: text.general.serviceAccounts, icon: 'service' } as const]
    : []),
  { href: `${root}/security`, label: text.general.security, icon: 'shield' },
  { href: `${root}/account`, label: text.general.account, icon: 'user' },
  ...(isAdministrator.value
    ? [{ href: `${root}/admin`, label: text.general.administration, icon: 'administration' } as const]
    : []),
];
