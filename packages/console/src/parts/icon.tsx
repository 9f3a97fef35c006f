/** Icons beside texts. They have no name of their own: the text says the same. */
const shapes = {
  key: 'M9.5 9.5a3.75 3.75 0 1 0-3-3L2 11v3h3v-1.75h1.75V10.5zM10.75 5.25h.01',
  service: 'M2.5 5.5h11v8h-11zM8 5.5V2.5M5.75 9v1M10.25 9v1M.75 8.5v2M15.25 8.5v2',
  shield: 'M8 1.75 13.25 4v4c0 3.25-2.25 5.5-5.25 6.5C5 13.5 2.75 11.25 2.75 8V4zM5.75 8l1.5 1.5 3-3',
  user: 'M8 7.75a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5M2.75 14a5.25 5.25 0 0 1 10.5 0',
  administration:
    'M2 4.5h6.5M12 4.5h2M10.25 6.25a1.75 1.75 0 1 0 0-3.5 1.75 1.75 0 0 0 0 3.5M2 11.5h2M7.5 11.5H14M5.75 13.25a1.75 1.75 0 1 0 0-3.5 1.75 1.75 0 0 0 0 3.5',
  search: 'M7 11.75a4.75 4.75 0 1 0 0-9.5 4.75 4.75 0 0 0 0 9.5m3.5-1.25L14 14',
  menu: 'M2 4.5h12M2 8h12M2 11.5h12',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  down: 'm4 6 4 4 4-4',
  plus: 'M8 3v10M3 8h10',
  close: 'm4 4 8 8M12 4l-8 8',
  check: 'm3 8.5 3.25 3.25L13 5',
  passkey:
    'M6.5 7.5a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5M1.5 14a5 5 0 0 1 7-4.6M12 10.5a2 2 0 1 0-.01-4 2 2 0 0 0 .01 4m0 0V14l1.25-1.25L12 11.5',
  book: 'M8 4C6.5 2.75 4.5 2.5 2 2.5v10c2.5 0 4.5.25 6 1.5 1.5-1.25 3.5-1.5 6-1.5v-10c-2.5 0-4.5.25-6 1.5M8 4v10',
  wait: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 4.75V8l2.25 1.5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M8 7.5V11M8 5h.01',
  success: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M5.5 8l1.75 1.75L10.5 6.5',
  warning: 'M8 2 1.5 13.5h13zM8 6.5v3M8 11.5h.01',
  error: 'M5.5 2h5L14 5.5v5L10.5 14h-5L2 10.5v-5zM8 5v3.5M8 11h.01',
  leave: 'M6 2.5H2.5v11H6M6 8h7.5m-3-3 3 3-3 3',
} as const;

export type IconName = keyof typeof shapes;

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={shapes[name]} />
  </svg>
);
