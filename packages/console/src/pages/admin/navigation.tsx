/** Links to the pages of administrators: a column beside the page; on narrow screens, a menu above it. */
import { useLocation } from 'preact-iso/router';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { adminText } from '../../text/admin-text.ts';
import { text } from '../../text/text.ts';
import { root } from '../../root.ts';

/** The last part of the path, and the label. In the order of the navigation. */
const pages = () =>
  [
    ['overview', adminText.general.overview],
    ['accounts', adminText.general.accounts],
    ['keys', text.general.keys],
    ['scopes', text.keys.scopes],
    ['audit', adminText.general.audit],
    ['webhooks', adminText.general.webhooks],
    ['mail', adminText.general.mail],
    ['jobs', adminText.general.jobs],
    ['signing-keys', adminText.general.signingKeys],
    ['settings', adminText.general.settings],
  ] as const;

export function Navigation() {
  const { path } = useLocation();
  const all = pages().map(([name, label]) => ({ href: `${root}/admin/${name}`, label }));
  const current = all.find(({ href }) => path === href || path.startsWith(`${href}/`));
  const links = () =>
    all.map(({ href, label }) => (
      <a href={href} aria-current={href === current?.href ? 'page' : undefined} key={href}>
        {label}
      </a>
    ));
  return (
    <>
      <nav aria-label={text.general.administration} class="side-navigation">
        {links()}
      </nav>
      <nav aria-label={text.general.administration} class="side-navigation-menu">
        <Menu
          buttonClass="button"
          button={
            <>
              <Icon name="administration" />
              {current?.label ?? text.general.administration}
            </>
          }
        >
          {links()}
        </Menu>
      </nav>
    </>
  );
}
