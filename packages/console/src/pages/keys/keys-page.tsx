/** The list of the account's API keys. */
import { Page } from '../../parts/page.tsx';
import { text } from '../../text/text.ts';

export function KeysPage() {
  return <Page title={text.keys.title}>{null}</Page>;
}
