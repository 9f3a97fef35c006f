/** One API key: its usage, its settings, rotation and deletion. */
import { Page } from '../../parts/page.tsx';
import { text } from '../../text/text.ts';

export function KeyPage() {
  return <Page title={text.keys.title}>{null}</Page>;
}
