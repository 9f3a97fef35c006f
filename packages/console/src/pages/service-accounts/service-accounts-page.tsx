/** The service accounts that the person manages. */
import { Page } from '../../parts/page.tsx';
import { text } from '../../text/text.ts';

export function ServiceAccountsPage() {
  return <Page title={text.serviceAccounts.title}>{null}</Page>;
}
