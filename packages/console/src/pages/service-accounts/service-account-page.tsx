/** One service account: its keys and managers. */
import { Page } from '../../parts/page.tsx';
import { text } from '../../text/text.ts';

export function ServiceAccountPage() {
  return <Page title={text.serviceAccounts.title}>{null}</Page>;
}
