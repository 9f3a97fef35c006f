/** For URLs below /console that have no page. */
import { Page } from '../parts/page.tsx';
import { text } from '../text/text.ts';

export function NotFoundPage() {
  return (
    <Page title={text.general.notFoundTitle} intro={text.general.notFound}>
      <a href="/console">{text.general.toStart}</a>
    </Page>
  );
}
