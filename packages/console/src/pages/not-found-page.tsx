/** For URLs below /console that have no page, and for those of administrators if the account does not have the role. */
import { useLocation } from 'preact-iso/router';
import { Page } from '../parts/page.tsx';
import { text } from '../text/text.ts';
import { root } from '../root.ts';

export function NotFoundPage() {
  const { path } = useLocation();
  const isAdministration = path.startsWith(`${root}/admin`);
  return (
    <Page
      title={text.general.notFoundTitle}
      intro={isAdministration ? text.general.administratorsOnly : text.general.notFound}
    >
      <a href={root}>{text.general.toStart}</a>
    </Page>
  );
}
