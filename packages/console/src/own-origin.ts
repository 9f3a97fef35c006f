/** The address of the console, at which sign-ins are possible. The page also loads under other addresses of the machine. */
import { signal } from '@preact/signals';

/** Until the settings have loaded, that of the page. */
export const ownOrigin = signal(location.origin);
