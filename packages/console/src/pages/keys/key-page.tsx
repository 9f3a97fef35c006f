/** The page of one API key of the account. */
import { useRoute } from 'preact-iso/router';
import { ConsoleKeyView } from './console-key-view.tsx';
import { keysOf } from './keys-of-account.ts';

export function KeyPage() {
  const { id } = useRoute().params;
  return <ConsoleKeyView owner={keysOf()} id={Number(id)} key={id} />;
}
