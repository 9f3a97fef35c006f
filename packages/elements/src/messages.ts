/**
 * The messages between the key page and the element that shows it in a frame: their schema, and a parser for each direction. The
 * element (element.ts) and the page (packages/console/src/portal/) use this file. No message carries a secret. The receiver checks
 * origin and source of an event before it parses the data.
 */

/** Version of the schema. A receiver ignores messages of other versions. */
export const messageVersion = 1;

/** Messages about a key, of which the host gets only the id. */
export type KeyMessageType = 'created' | 'rotated' | 'changed' | 'deleted';

/** From the page to the host. */
export type PageMessage =
  | { readonly keyreeve: 1; readonly type: 'ready' }
  /** Height of the content in CSS pixels: a whole number from 0 to 100,000. */
  | { readonly keyreeve: 1; readonly type: 'height'; readonly px: number }
  | { readonly keyreeve: 1; readonly type: KeyMessageType; readonly keyId: number }
  /** The portal session has ended: the page can do nothing more. */
  | { readonly keyreeve: 1; readonly type: 'ended' }
  /** The person requests a new portal session. */
  | { readonly keyreeve: 1; readonly type: 'reload' };

/** How the page looks. All values come from closed sets: no URLs and no texts. */
export interface Look {
  readonly theme: 'light' | 'dark' | 'auto';
  /** Letters, digits and hyphens, at most 35: the shape of a language tag (RFC 5646). The page ignores languages that it lacks. */
  readonly lang?: string;
  /** Colours: see `isColour`. */
  readonly accent?: string;
  readonly background?: string;
  readonly surface?: string;
  readonly text?: string;
  /** CSS pixels: a whole number from 0 to 24. */
  readonly radius?: number;
  /** At most 5 names of typefaces, separated by commas: each 1–40 letters, digits, spaces and hyphens. */
  readonly font?: string;
  readonly density?: 'compact' | 'comfortable';
}

/** From the host to the page. */
export interface LookMessage extends Look {
  readonly keyreeve: 1;
  readonly type: 'look';
}

/** Red, green and blue from 0 to 255; or lightness from 0 to 1, chroma from 0 to 0.5 and hue from 0 to 360 degrees. */
export interface Colour {
  readonly space: 'rgb' | 'oklch';
  readonly values: readonly [number, number, number];
}

/**
 * `#rgb` or `#rrggbb`; `rgb(r g b)` or `rgb(r, g, b)` with whole numbers; `oklch(l c h)` with numbers without units. Transparency has no
 * form: what is behind the frame would decide the contrast.
 * @returns undefined for all other texts
 */
export function parseColour(text: string): Colour | undefined {
  const hex = /^#(?:[\da-f]{3}){1,2}$/i.test(text) ? text.slice(1) : '';
  const pairs = hex.length === 3 ? Array.from(hex, (digit) => digit + digit) : (hex.match(/../g) ?? []);
  const rgb = /^rgb\((\d{1,3})(,?) (\d{1,3})\2 (\d{1,3})\)$/.exec(text);
  const oklch = /^oklch\((\d(?:\.\d{1,6})?) (\d(?:\.\d{1,6})?) (\d{1,3}(?:\.\d{1,6})?)\)$/.exec(text);
  const decimals = rgb ? [rgb[1], rgb[3], rgb[4]] : (oklch?.slice(1) ?? []);
  const [x, y, z] = hex ? pairs.map((pair) => Number.parseInt(pair, 16)) : decimals.map(Number);
  if (x === undefined || y === undefined || z === undefined) return undefined;
  const [xMax, yMax, zMax] = oklch ? [1, 0.5, 360] : [255, 255, 255];
  if (x > xMax || y > yMax || z > zMax) return undefined;
  return { space: oklch ? 'oklch' : 'rgb', values: [x, y, z] };
}

type Check = (value: unknown) => boolean;
type Checks = Readonly<Record<string, Check>>;

const isColour: Check = (value) => typeof value === 'string' && parseColour(value) !== undefined;
const isOneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const isTextOf =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value);
const isWholeNumber =
  (min: number, max: number): Check =>
  (value) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max;

/** By member of `Look`. The element omits attributes whose values a check rejects. */
export const lookChecks = {
  theme: isOneOf('light', 'dark', 'auto'),
  lang: isTextOf(/^[\da-z-]{2,35}$/i),
  accent: isColour,
  background: isColour,
  surface: isColour,
  text: isColour,
  radius: isWholeNumber(0, 24),
  font: isTextOf(/^[\da-z -]{1,40}(?:,[\da-z -]{1,40}){0,4}$/i),
  density: isOneOf('compact', 'comfortable'),
} as const satisfies Readonly<Record<keyof Look, Check>>;

const ofKey: Checks = { keyId: isWholeNumber(1, Number.MAX_SAFE_INTEGER) };
const pageMessages: Readonly<Record<PageMessage['type'], Checks>> = {
  ready: {},
  height: { px: isWholeNumber(0, 100_000) },
  created: ofKey,
  rotated: ofKey,
  changed: ofKey,
  deleted: ofKey,
  ended: {},
  reload: {},
};

/** Parses what the element received from its frame. @returns undefined unless the data have exactly the members of their type */
export function parsePageMessage(data: unknown): PageMessage | undefined {
  const type = isPlain(data) ? data['type'] : undefined;
  if (typeof type !== 'string' || !Object.hasOwn(pageMessages, type)) return undefined;
  const checks = pageMessages[type as PageMessage['type']];
  return hasMembers(data, { keyreeve: isOneOf(messageVersion), type: isOneOf(type), ...checks })
    ? (data as PageMessage)
    : undefined;
}

/** Parses what the page received from its host. @returns undefined unless the data are a look without further members */
export function parseLookMessage(data: unknown): LookMessage | undefined {
  const { theme, ...optional } = lookChecks;
  const required = { keyreeve: isOneOf(messageVersion), type: isOneOf('look'), theme };
  return hasMembers(data, required, optional) ? (data as LookMessage) : undefined;
}

/** All required members, and no others but the optional ones. */
function hasMembers(data: unknown, required: Checks, optional: Checks = {}): boolean {
  if (!isPlain(data)) return false;
  const checks: Checks = { ...optional, ...required };
  return (
    Object.keys(required).every((name) => Object.hasOwn(data, name)) &&
    Reflect.ownKeys(data).every(
      (name) => typeof name === 'string' && Object.hasOwn(checks, name) && checks[name]?.(data[name]),
    )
  );
}

/** An object without a class, and with values instead of functions that return them: what a structured copy makes. */
function isPlain(data: unknown): data is Readonly<Record<string, unknown>> {
  if (typeof data !== 'object' || data === null) return false;
  const prototype: unknown = Object.getPrototypeOf(data);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return Object.values(Object.getOwnPropertyDescriptors(data)).every((descriptor) => 'value' in descriptor);
}
