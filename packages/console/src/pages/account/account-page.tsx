/** Email address, password, language, export and deletion of the account. */
import { Page } from '../../parts/page.tsx';
import { text } from '../../text/text.ts';

export function AccountPage() {
  return <Page title={text.account.title}>{null}</Page>;
}
