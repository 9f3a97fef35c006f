/** Sign-up with an email address. */
import { Page } from '../../parts/page.tsx';
import { text } from '../../text/text.ts';

export function SignUpPage() {
  return <Page title={text.signIn.title}>{null}</Page>;
}
