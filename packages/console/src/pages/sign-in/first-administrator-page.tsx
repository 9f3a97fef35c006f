/** Creates the first administrator with the one-time code of the installation. */
import { Page } from '../../parts/page.tsx';
import { text } from '../../text/text.ts';

export function FirstAdministratorPage() {
  return <Page title={text.signIn.title}>{null}</Page>;
}
