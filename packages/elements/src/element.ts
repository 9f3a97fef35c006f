/**
 * The element `<keyreeve-keys>`: a frame that shows the key page, its height, its look and its events. The frame is of Keyreeve's origin:
 * this script and all others of the host page can read nothing in it. A server without `customElements` can import the file.
 */
import { lookChecks, messageVersion, parsePageMessage, type Look } from './messages.ts';

/** The least seconds between two loads for a new session: a page whose session ends at once does not load without pause. */
const renewalSeconds = 10;

function defineKeys(): void {
  const sheet = new CSSStyleSheet();
  // The height of the page at its start, so that the host's content does not move.
  sheet.replaceSync(':host{display:block}iframe{display:block;width:100%;min-height:36rem;border:0}');

  customElements.define(
    'keyreeve-keys',
    class extends HTMLElement {
      static readonly observedAttributes = ['src', 'session', ...Object.keys(lookChecks)];

      readonly #root = this.attachShadow({ mode: 'closed' });
      #frame: HTMLIFrameElement | undefined;
      /** Of the page: that of the first message `ready` since `src` was set. */
      #origin: string | undefined;
      #renewalTimer: ReturnType<typeof setTimeout> | undefined;
      /** Whether the page has requested a new session within these seconds. */
      #isRenewalWanted = false;

      constructor() {
        super();
        this.#root.adoptedStyleSheets = [sheet];
      }

      connectedCallback(): void {
        addEventListener('message', this.#receive);
        // When the element moves, the browser itself loads the frame again.
        if (!this.#frame) this.#load();
      }

      disconnectedCallback(): void {
        removeEventListener('message', this.#receive);
      }

      attributeChangedCallback(name: string, before: string | null, now: string | null): void {
        // Before it is in a document, it has no frame.
        if (!this.#frame || before === now) return;
        if (name !== 'src' && name !== 'session') return this.#sendLook();
        this.#origin = undefined;
        this.#load();
      }

      /** A new frame, because a frame that loads another document leaves an entry in the history of the tab. */
      #load(): void {
        this.#frame?.remove();
        this.#frame = document.createElement('iframe');
        clearTimeout(this.#renewalTimer);
        this.#isRenewalWanted = false;
        this.#renewalTimer = setTimeout(() => {
          this.#renewalTimer = undefined;
          if (this.#isRenewalWanted) this.#load();
        }, renewalSeconds * 1000);
        const given = this.getAttribute('session') ?? this.getAttribute('src');
        const url = given && URL.canParse(given, document.baseURI) ? new URL(given, document.baseURI) : undefined;
        // A URL with another scheme could be a script that runs in the host page.
        if (!url || !/^https?:$/.test(url.protocol)) return;
        this.#frame.title = /^de\b/i.test(this.#language) ? 'API-Schlüssel' : 'API keys';
        this.#frame.referrerPolicy = 'no-referrer';
        // `src` redirects to the origin of Keyreeve, which a policy without `*` would not include.
        this.#frame.allow = 'clipboard-write *';
        this.#frame.src = url.href;
        this.#root.append(this.#frame);
      }

      get #language(): string {
        return this.closest<HTMLElement>('[lang]')?.lang ?? '';
      }

      #sendLook(): void {
        if (this.#origin === undefined) return;
        const look: Record<string, unknown> = { keyreeve: messageVersion, type: 'look', theme: 'auto' };
        for (const name of Object.keys(lookChecks) as (keyof Look)[]) {
          const text = name === 'lang' ? this.#language : this.getAttribute(name);
          if (!text) continue;
          const value = name === 'radius' ? Number(text) : text;
          if (lookChecks[name](value)) look[name] = value;
          // oxlint-disable-next-line no-console -- for the developer of the host page
          else console.warn(`keyreeve-keys: the value of ${name} is not valid: ${text}`);
        }
        this.#frame?.contentWindow?.postMessage(look, this.#origin);
      }

      readonly #receive = ({ source, origin, data }: MessageEvent<unknown>): void => {
        if (!this.#frame || source !== this.#frame.contentWindow) return;
        // Keyreeve has an origin of its own: a page of the host's origin is an error page of the host, or imitates the page.
        if (origin === location.origin || origin !== (this.#origin ?? origin) || !origin.startsWith('http')) return;
        const message = parsePageMessage(data);
        if (!message || (this.#origin === undefined && message.type !== 'ready')) return;
        switch (message.type) {
          case 'ready':
            this.#origin = origin;
            return this.#sendLook();
          case 'height':
            this.#frame.style.height = `${message.px}px`;
            return;
          case 'reload':
          case 'ended':
            if (this.#dispatch('ended') && !this.hasAttribute('session')) this.#renew();
            return;
          default:
            this.#dispatch(message.type, { keyId: message.keyId });
        }
      };

      /** @returns false if a listener prevented the default action */
      #dispatch(type: string, detail?: { readonly keyId: number }): boolean {
        return this.dispatchEvent(new CustomEvent(type, { bubbles: true, cancelable: type === 'ended', detail }));
      }

      #renew(): void {
        if (this.#renewalTimer === undefined) this.#load();
        else this.#isRenewalWanted = true;
      }
    },
  );
}

if (globalThis.customElements && !customElements.get('keyreeve-keys')) defineKeys();
