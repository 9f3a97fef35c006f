/**
 * The colours that derive from the operator's one: of texts, buttons and marked areas, in both themes. Each keeps the contrast of
 * WCAG 2.2 AA with everything that is beside it: 4.5:1 for texts, 3:1 for controls.
 */

/** `#rrggbb` each. */
export interface ThemeColours {
  /** Links, and other texts on the backgrounds of the theme. */
  readonly text: string;
  /** The area of the main button, and texts on it. */
  readonly fill: string;
  readonly fillHover: string;
  readonly onFill: string;
  /** A marked area, on which `text` can be. */
  readonly soft: string;
}

export interface Accent {
  readonly light: ThemeColours;
  readonly dark: ThemeColours;
}

type Rgb = readonly [number, number, number];

const black: Rgb = [0, 0, 0];
const white: Rgb = [255, 255, 255];
/** Those of `http/tokens.css`: background, surfaces, hover. */
const backgrounds = {
  light: ['#f6f7f9', '#ffffff', '#f3f4f7', '#f0f2f5'],
  dark: ['#0d1015', '#14181f', '#1a1f28', '#10141a', '#222833'],
} as const;
/** Above the required ones, because colours are rounded. */
const contrast = { text: 4.55, control: 3.05 } as const;
const steps = 100;

/** @param colour `#rrggbb` */
export function accentOf(colour: string): Accent {
  const own = parse(colour);
  return {
    light: coloursOf(own, backgrounds.light.map(parse), { towards: black, soft: mix(white, own, 0.1) }),
    dark: coloursOf(own, backgrounds.dark.map(parse), { towards: white, soft: mix(parse('#14181f'), own, 0.2) }),
  };
}

interface Theme {
  /** Where the contrast with the backgrounds rises. */
  readonly towards: Rgb;
  readonly soft: Rgb;
}

function coloursOf(own: Rgb, behind: readonly Rgb[], { towards, soft }: Theme): ThemeColours {
  const fill = withContrast(own, behind, towards, contrast.control);
  // One of the two has at least 4.58:1 with any colour.
  const onFill = contrastOf(fill, white) >= contrastOf(fill, black) ? white : black;
  return {
    text: format(withContrast(own, [...behind, soft], towards, contrast.text)),
    fill: format(fill),
    fillHover: format(mix(fill, onFill === white ? black : white, 0.14)),
    onFill: format(onFill),
    soft: format(soft),
  };
}

function withContrast(own: Rgb, behind: readonly Rgb[], towards: Rgb, least: number): Rgb {
  for (let step = 0; step < steps; step++) {
    const mixed = mix(own, towards, step / steps);
    if (behind.every((one) => contrastOf(mixed, one) >= least)) return mixed;
  }
  return towards;
}

/** WCAG 2.2, definition of the contrast ratio. */
export function contrastOf(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(colour: Rgb): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** @param share of `to`, from 0 to 1 */
const mix = (from: Rgb, to: Rgb, share: number): Rgb =>
  [0, 1, 2].map((index) => Math.round(from[index]! * (1 - share) + to[index]! * share)) as unknown as Rgb;

export const parse = (colour: string): Rgb =>
  [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16)) as unknown as Rgb;

const format = (colour: Rgb): string => `#${colour.map((value) => value.toString(16).padStart(2, '0')).join('')}`;

/** Replaces the colours of `http/tokens.css`. */
export function styleOf({ light, dark }: Accent): string {
  const pair = (name: keyof ThemeColours): string => `light-dark(${light[name]},${dark[name]})`;
  return `:root{--accent:${pair('text')};--accent-fill:${pair('fill')};--accent-fill-hover:${pair('fillHover')};--accent-text:${pair('onFill')};--accent-soft:${pair('soft')}}\n`;
}
