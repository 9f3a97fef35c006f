/** Types of `<keyreeve-keys>` for React 19: `import type {} from '@keyreeve/elements/react'`. Events are `oncreated` and so on. */
import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { KeyreeveKeysAttributes, KeyreeveKeysElement, KeyreeveKeysEvents } from './element.js';

type Listeners = {
  [Type in keyof KeyreeveKeysEvents as `on${Type}`]?: ((event: KeyreeveKeysEvents[Type]) => void) | undefined;
};

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'keyreeve-keys': DetailedHTMLProps<HTMLAttributes<KeyreeveKeysElement>, KeyreeveKeysElement> &
        KeyreeveKeysAttributes &
        Listeners;
    }
  }
}
