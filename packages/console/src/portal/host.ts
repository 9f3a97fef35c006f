/** The page that shows this one in a frame: messages to it, and its wishes about the look. Both are checked by origin and source. */
import { messageVersion, parseLookMessage, type Look, type PageMessage } from '../../../elements/src/messages.ts';

type WithoutVersion<M> = M extends PageMessage ? Omit<M, 'keyreeve'> : never;

export interface Host {
  readonly display: 'frame' | 'page';
  readonly send: (message: WithoutVersion<PageMessage>) => void;
}

const metaOf = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name=keyreeve-${name}]`)?.content ?? '';

interface Browsing {
  /** What the server has written into the page. */
  readonly origin: string;
  readonly display: string;
  readonly parent: Pick<Window, 'postMessage'>;
  readonly isFramed: boolean;
  readonly listen: (receive: (event: Pick<MessageEvent<unknown>, 'source' | 'origin' | 'data'>) => void) => void;
}

const ownWindow = (): Browsing => ({
  origin: metaOf('origin'),
  display: metaOf('display'),
  parent: window.parent,
  isFramed: window.parent !== window,
  listen: (receive) => addEventListener('message', receive),
});

/** @param onLook called for each valid look */
export function connectHost(onLook: (look: Look) => void, browsing = ownWindow()): Host {
  const { origin } = browsing;
  const display = browsing.display === 'frame' ? 'frame' : 'page';
  if (display !== 'frame' || origin === '' || !browsing.isFramed) return { display, send: () => undefined };
  browsing.listen((event) => {
    if (event.source !== browsing.parent || event.origin !== origin) return;
    const look = parseLookMessage(event.data);
    if (look) onLook(look);
  });
  return { display, send: (message) => browsing.parent.postMessage({ keyreeve: messageVersion, ...message }, origin) };
}
