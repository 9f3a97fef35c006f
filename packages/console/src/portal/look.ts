/**
 * How the page looks: from the tokens of the host to the properties of the style sheet (tokens.css). All values are numbers, checked
 * names and colours that this file computes, so no text of the host reaches the page. Text stays readable: a colour without a contrast
 * of 4.5:1 is moved to one that has it.
 */
import type { Look } from '../../../elements/src/messages.ts';
import { contrastOf, extremeOn, leastContrast, mixed, readable, rgbOf, toCss, white, type Rgb } from './colours.ts';

type Scheme = 'light' | 'dark';
export type Properties = Readonly<Record<string, string>>;

/** As in tokens.css and portal.css. */
const defaults = {
  light: {
    background: [255, 255, 255],
    surface: [255, 255, 255],
    text: [23, 28, 38],
    accent: [52, 80, 210],
    good: [20, 105, 59],
    warning: [133, 80, 0],
    bad: [179, 38, 30],
  },
  dark: {
    background: [13, 16, 21],
    surface: [20, 24, 31],
    text: [233, 236, 241],
    accent: [147, 169, 255],
    good: [98, 210, 150],
    warning: [239, 185, 92],
    bad: [255, 147, 138],
  },
} as const satisfies Record<Scheme, Record<string, Rgb>>;

const generic = new Set(['serif', 'sans-serif', 'monospace', 'system-ui', 'ui-sans-serif', 'ui-serif', 'ui-rounded']);

export interface Appearance {
  /** undefined: that of the system. */
  readonly scheme: Scheme | undefined;
  readonly density: NonNullable<Look['density']>;
  readonly properties: Properties;
}

/** @param isSystemDark whether the system prefers a dark scheme */
export function appearanceOf(look: Look, isSystemDark: boolean): Appearance {
  const colours = coloursOf(look, isSystemDark);
  return {
    scheme: colours?.scheme ?? (look.theme === 'auto' ? undefined : look.theme),
    density: look.density ?? 'comfortable',
    properties: {
      ...colours?.properties,
      ...(look.radius !== undefined && {
        '--radius': `${look.radius}px`,
        '--radius-large': `${Math.min(24, Math.round(look.radius * 1.5))}px`,
      }),
      ...(look.font !== undefined && { '--font': fontOf(look.font) }),
    },
  };
}

/** With a typeface of the system at the end. */
const fontOf = (names: string): string =>
  [...names.split(',').map((name) => name.trim()), 'system-ui', 'sans-serif']
    .filter(Boolean)
    .map((name) => (generic.has(name.toLowerCase()) ? name : `"${name}"`))
    .join(', ');

/** @returns undefined if the host gives no colour */
function coloursOf(
  { theme, ...look }: Look,
  isSystemDark: boolean,
): { readonly scheme: Scheme; readonly properties: Properties } | undefined {
  const given = (name: 'accent' | 'background' | 'surface' | 'text'): Rgb | undefined =>
    look[name] === undefined ? undefined : rgbOf(look[name]);
  const [accent, background, surface, text] = [given('accent'), given('background'), given('surface'), given('text')];
  if (!accent && !background && !surface && !text) return undefined;
  const wanted: Scheme = theme === 'auto' ? (isSystemDark ? 'dark' : 'light') : theme;
  // The colours that the host does not give must fit those that it gives.
  const ground = background ?? surface;
  const scheme: Scheme = ground === undefined ? wanted : extremeOn([ground]) === white ? 'dark' : 'light';
  const neutral = neutralColours({ background, surface, text }, scheme);
  const { grounds } = neutral;
  const properties: Record<string, Rgb> = { ...neutral.properties };
  const add = (name: string, colour: Rgb, share: number): void => {
    // On a ground of a middle lightness, a tint would leave too little contrast.
    const soft = [mixed(neutral.surface, colour, share), neutral.surface].find(
      (tint) =>
        // Of notices.
        contrastOf(neutral.properties['--text'], tint) >= 4.5 &&
        leastContrast(readable(colour, [...grounds, tint]), [...grounds, tint]) >= 4.5,
    );
    properties[`--${name}-soft`] = soft ?? neutral.surface;
    properties[`--${name}`] = readable(colour, soft ? [...grounds, soft] : grounds);
  };
  for (const name of ['good', 'warning', 'bad'] as const) add(name, defaults[scheme][name], 0.1);
  const chosen = accent ?? defaults[scheme].accent;
  add('accent', chosen, 0.12);
  properties['--accent-fill'] = chosen;
  const onFill = extremeOn([chosen]);
  properties['--accent-text'] = onFill;
  // Away from the colour of the text.
  properties['--accent-fill-hover'] = mixed(chosen, extremeOn([onFill]), 0.12);
  return {
    scheme,
    properties: Object.fromEntries(Object.entries(properties).map(([name, colour]) => [name, toCss(colour)])),
  };
}

type Given = Readonly<Record<'background' | 'surface' | 'text', Rgb | undefined>>;

/** Backgrounds, text and lines. */
function neutralColours(given: Given, scheme: Scheme) {
  const usual = defaults[scheme];
  const background = given.background ?? (given.surface ? given.surface : usual.background);
  const wanted = given.surface ?? given.background ?? usual.surface;
  const candidates = [given.text, usual.text].filter((colour) => colour !== undefined);
  // A surface whose text could not be read on the background too is left out.
  for (const surface of [wanted, background])
    for (const text of [...candidates, extremeOn([background, surface])]) {
      const hover = mixed(surface, text, 0.07);
      if (leastContrast(text, [background, surface, hover]) >= 4.5)
        return neutralOf({ background, surface, text, hover });
    }
  // Grounds of a middle lightness: even a slightly different one has too little contrast.
  return neutralOf({ background, surface: background, text: extremeOn([background]), hover: background });
}

interface Neutral {
  readonly background: Rgb;
  readonly surface: Rgb;
  readonly text: Rgb;
  readonly hover: Rgb;
}

function neutralOf({ background, surface, text, hover }: Neutral) {
  const sunken = contrastOf(hover, surface) === 1 ? surface : mixed(surface, text, 0.03);
  const grounds = [background, surface, sunken, hover];
  return {
    surface,
    grounds,
    properties: {
      '--background': background,
      '--surface': surface,
      '--surface-raised': surface,
      '--surface-sunken': sunken,
      '--hover': hover,
      '--line': mixed(surface, text, 0.14),
      '--line-strong': readable(mixed(surface, text, 0.45), [background, surface], 3),
      '--text': text,
      '--muted': readable(mixed(surface, text, 0.65), grounds),
    } as const satisfies Readonly<Record<string, Rgb>>,
  };
}
