/** Icons that only the console has, and the key page in the frame lacks. */
export const consoleIcons = {
  service: 'M2.5 5.5h11v8h-11zM8 5.5V2.5M5.75 9v1M10.25 9v1M.75 8.5v2M15.25 8.5v2',
  shield: 'M8 1.75 13.25 4v4c0 3.25-2.25 5.5-5.25 6.5C5 13.5 2.75 11.25 2.75 8V4zM5.75 8l1.5 1.5 3-3',
  user: 'M8 7.75a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5M2.75 14a5.25 5.25 0 0 1 10.5 0',
  administration:
    'M2 4.5h6.5M12 4.5h2M10.25 6.25a1.75 1.75 0 1 0 0-3.5 1.75 1.75 0 0 0 0 3.5M2 11.5h2M7.5 11.5H14M5.75 13.25a1.75 1.75 0 1 0 0-3.5 1.75 1.75 0 0 0 0 3.5',
  menu: 'M2 4.5h12M2 8h12M2 11.5h12',
  down: 'm4 6 4 4 4-4',
  passkey:
    'M6.5 7.5a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5M1.5 14a5 5 0 0 1 7-4.6M12 10.5a2 2 0 1 0-.01-4 2 2 0 0 0 .01 4m0 0V14l1.25-1.25L12 11.5',
  book: 'M8 4C6.5 2.75 4.5 2.5 2 2.5v10c2.5 0 4.5.25 6 1.5 1.5-1.25 3.5-1.5 6-1.5v-10c-2.5 0-4.5.25-6 1.5M8 4v10',
  leave: 'M6 2.5H2.5v11H6M6 8h7.5m-3-3 3 3-3 3',
} as const;

export type ConsoleIconName = keyof typeof consoleIcons;
