/** The element `<keyreeve-keys>`: its attributes and events. The import of `@keyreeve/elements` defines the element. */

/** All values are texts in HTML. An invalid value of the look is left out, with a warning in the browser's console. */
export interface KeyreeveKeysAttributes {
  /** URL of your endpoint that creates a portal session and redirects the frame to it. */
  src?: string | undefined;
  /** Instead of `src`: the `url` of a portal session. It works once, and scripts of your page can use it. */
  session?: string | undefined;
  /** Default: `auto`, the preference of the browser. */
  theme?: 'light' | 'dark' | 'auto' | undefined;
  /** `#rgb`, `#rrggbb`, `rgb(r g b)` or `oklch(l c h)`, without transparency. The page corrects colours that are hard to read. */
  accent?: string | undefined;
  background?: string | undefined;
  surface?: string | undefined;
  text?: string | undefined;
  /** Corners in CSS pixels: a whole number from 0 to 24. */
  radius?: number | `${number}` | undefined;
  /** At most 5 names of typefaces that the browser has, separated by commas. */
  font?: string | undefined;
  density?: 'compact' | 'comfortable' | undefined;
}

/** Of a key. The event bubbles, and carries no secret. */
export type KeyreeveKeyEvent = CustomEvent<{ readonly keyId: number }>;

export interface KeyreeveKeysEvents {
  created: KeyreeveKeyEvent;
  rotated: KeyreeveKeyEvent;
  changed: KeyreeveKeyEvent;
  deleted: KeyreeveKeyEvent;
  /** With `src`, the element then loads a new session, unless a listener calls `preventDefault()`. */
  ended: CustomEvent<null>;
}

export interface KeyreeveKeysElement extends HTMLElement {
  addEventListener<Type extends keyof KeyreeveKeysEvents>(
    type: Type,
    listener: (this: KeyreeveKeysElement, event: KeyreeveKeysEvents[Type]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener<Type extends keyof HTMLElementEventMap>(
    type: Type,
    listener: (this: HTMLElement, event: HTMLElementEventMap[Type]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'keyreeve-keys': KeyreeveKeysElement;
  }
}
