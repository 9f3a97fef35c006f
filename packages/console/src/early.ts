/**
 * Runs before the page is painted, so that its first picture has the chosen theme, and the skeleton of the page that follows. Loads the
 * texts together with the scripts, which would otherwise request them one round trip later.
 */
import { applyTheme } from './theme.ts';
import { stored } from './stored.ts';
import { languageOf, textsOf } from './text/language.ts';

applyTheme();
if (stored('session')) document.documentElement.dataset['session'] = '';

// The build names the file of each language at the element of this script.
const { src, dataset } = document.currentScript as HTMLScriptElement;
const file = dataset[textsOf(languageOf(navigator.languages))];
if (file !== undefined) {
  const link = document.createElement('link');
  link.rel = 'modulepreload';
  link.href = new URL(file, src).href;
  document.head.append(link);
}
