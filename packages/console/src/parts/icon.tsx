/** Icons beside texts. They have no name of their own: the text says the same. */
import type { ConsoleIconName } from './console-icons.ts';

const shapes = {
  key: 'M9.5 9.5a3.75 3.75 0 1 0-3-3L2 11v3h3v-1.75h1.75V10.5zM10.75 5.25h.01',
  search: 'M7 11.75a4.75 4.75 0 1 0 0-9.5 4.75 4.75 0 0 0 0 9.5m3.5-1.25L14 14',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  plus: 'M8 3v10M3 8h10',
  close: 'm4 4 8 8M12 4l-8 8',
  check: 'm3 8.5 3.25 3.25L13 5',
  wait: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 4.75V8l2.25 1.5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 7.5V11M8 5h.01',
  success: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M5.5 8l1.75 1.75L10.5 6.5',
  warning: 'M8 2 1.5 13.5h13zM8 6.5v3M8 11.5h.01',
  error: 'M5.5 2h5L14 5.5v5L10.5 14h-5L2 10.5v-5zM8 5v3.5M8 11h.01',
} as const;

/** What the console adds (console-icons.ts). */
const added: Record<string, string> = {};

/** Before the first rendering. */
export const addIcons = (further: Readonly<Record<string, string>>): void => void Object.assign(added, further);

export type IconName = keyof typeof shapes | ConsoleIconName;

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={shapes[name as keyof typeof shapes] ?? added[name]} />
  </svg>
);
