/** Second factor, recovery codes, sessions and activity of the account. */
import { Page } from '../../parts/page.tsx';
import { text } from '../../text/text.ts';

export function SecurityPage() {
  return <Page title={text.security.title}>{null}</Page>;
}
