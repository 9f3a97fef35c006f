/** Types of `<keyreeve-keys>` in templates of Vue: `import type {} from '@keyreeve/elements/vue'`. Events are `@created` and so on. */
import type { EmitFn, HTMLAttributes, PublicProps } from 'vue';
import type { KeyreeveKeysAttributes, KeyreeveKeysEvents } from './element.js';

type Emits = { [Type in keyof KeyreeveKeysEvents]: (event: KeyreeveKeysEvents[Type]) => void };
type Listeners = {
  [Type in keyof KeyreeveKeysEvents as `on${Capitalize<Type>}`]?:
    | ((event: KeyreeveKeysEvents[Type]) => void)
    | undefined;
};

declare module 'vue' {
  interface GlobalComponents {
    'keyreeve-keys': new () => {
      /** For checkers of templates only: the element has no such members. */
      $props: HTMLAttributes & KeyreeveKeysAttributes & Listeners & PublicProps;
      $emit: EmitFn<Emits>;
    };
  }
}
