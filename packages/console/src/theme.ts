/** The theme: that of the system, unless the person has chosen one in this browser. */
import { store, stored } from './stored.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const chosenTheme = (): Theme => themes.find((theme) => theme === stored('theme')) ?? 'system';

export function chooseTheme(theme: Theme): void {
  store('theme', theme === 'system' ? undefined : theme);
  applyTheme();
}

export function applyTheme(): void {
  const theme = chosenTheme();
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset['theme'];
  else dataset['theme'] = theme;
  // Colours the window before the style sheet has arrived.
  const meta = document.querySelector<HTMLMetaElement>('meta[name=color-scheme]');
  if (meta) meta.content = theme === 'system' ? 'light dark' : theme;
}
