/** The texts of the page in English or German. Another language waits until no dialog is open; of several, the last one applies. */
import { keepFocusOfNextPage } from '../parts/page.tsx';
import { whenNoDialogIsOpen } from '../parts/waiting.ts';
import { setRotationTexts } from '../text/rotation-text.ts';
import { setTexts, textsVersion } from '../text/text.ts';
import type { RotationTexts, Texts } from '../text/texts.ts';
import type { portal as english } from './en.ts';
import { isGerman } from './language.ts';

/** The areas of the console's texts that the parts of the page use. A test checks that they use no others. */
export type PortalTexts = Pick<Texts, 'general' | 'fields' | 'keys'> & {
  readonly problems: Readonly<Record<string, string>>;
};

interface Loaded {
  readonly texts: PortalTexts;
  readonly rotation: RotationTexts;
  readonly portal: typeof english;
}

/** Defined before the first rendering. */
export let portalText: typeof english;

let newest = 0;
let shown: string | undefined;

/** Loads the texts of a language, then shows them. @param language BCP 47 @throws Error if they cannot be loaded */
export async function showLanguage(language: string): Promise<void> {
  const request = ++newest;
  if (language === shown) return;
  const loaded: Loaded = isGerman(language)
    ? (({ de, rotation, portal }) => ({ texts: de, rotation, portal }))(await import('./de.ts'))
    : (({ en, rotation, portal }) => ({ texts: en, rotation, portal }))(await import('./en.ts'));
  await new Promise<void>((resolve) =>
    whenNoDialogIsOpen(() => {
      if (request === newest) show(loaded, language);
      resolve();
    }),
  );
}

function show({ texts, rotation, portal }: Loaded, language: string): void {
  setTexts(texts as unknown as Texts, language);
  setRotationTexts(rotation);
  portalText = portal;
  shown = language;
  keepFocusOfNextPage();
  textsVersion.value++;
}
