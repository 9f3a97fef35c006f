/** Types of `<keyreeve-keys>` for Svelte: `import type {} from '@keyreeve/elements/svelte'`. Events are `oncreated` and so on. */
import type { HTMLAttributes } from 'svelte/elements';
import type { KeyreeveKeysAttributes, KeyreeveKeysElement, KeyreeveKeysEvents } from './element.js';

type Listeners = {
  [Type in keyof KeyreeveKeysEvents as `on${Type}`]?: ((event: KeyreeveKeysEvents[Type]) => void) | undefined;
};

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'keyreeve-keys': HTMLAttributes<KeyreeveKeysElement> & KeyreeveKeysAttributes & Listeners;
  }
}
