/** The page that shows this one in a frame: messages to it, and the looks that it sends. Both are checked by origin and source. */
import { messageVersion, parseLookMessage, type Look, type PageMessage } from '../../../elements/src/messages.ts';

type WithoutVersion<M> = M extends PageMessage ? Omit<M, 'keyreeve'> : never;

export interface Host {
  readonly display: 'frame' | 'page';
  readonly send: (message: WithoutVersion<PageMessage>) => void;
}

interface ReceivedMessage {
  readonly source: unknown;
  readonly origin: string;
  readonly data: unknown;
}

/** The window of the page, and what the server has written into the page. */
export interface Browsing {
  /** Of the host; empty without a frame. */
  readonly origin: string;
  readonly display: string;
  readonly parent: { readonly postMessage: (message: unknown, targetOrigin: string) => void };
  readonly isFramed: boolean;
  readonly listen: (receive: (message: ReceivedMessage) => void) => void;
}

/** @param onLook called for each valid look */
export function connectHost(onLook: (look: Look) => void, browsing: Browsing): Host {
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
