/** Links to the pages of administrators: a column beside the page; on narrow screens, a menu above it. */
import { useLocation } from 'preact-iso/router';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { text } from '../../text/text.ts';
import { adminPages } from './admin-pages.ts';

export function Navigation() {
  const { path } = useLocation();
  const all = adminPages();
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
