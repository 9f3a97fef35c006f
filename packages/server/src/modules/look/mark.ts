/**
 * The operator's mark, a small image beside the name: an SVG or PNG file. Pages show it as an image, in which no script runs and which
 * loads nothing. The checks also hold for a person who opens the image itself.
 */
import { limits } from '@keyreeve/contract';

export interface Mark {
  readonly contentType: 'image/svg+xml' | 'image/png';
  readonly bytes: Uint8Array;
}

const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** @throws Error that says what is wrong, such as "is neither an SVG nor a PNG image" */
export function parseMark(bytes: Buffer): Mark {
  if (bytes.length > limits.markBytesMax) throw new Error(`has more than ${limits.markBytesMax} bytes`);
  if (bytes.subarray(0, pngStart.length).equals(pngStart)) {
    checkPng(bytes);
    return { contentType: 'image/png', bytes };
  }
  checkSvg(textOf(bytes));
  return { contentType: 'image/svg+xml', bytes };
}

/** The first chunk of a PNG image has its size, and the last one has no content (W3C PNG, 5.6 and 11.2.2). */
function checkPng(bytes: Buffer): void {
  const isWhole =
    bytes.length >= 45 && bytes.toString('latin1', 12, 16) === 'IHDR' && bytes.includes('IEND', -8, 'latin1');
  if (!isWhole) throw new Error('is not a whole PNG image');
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const isFitting = [width, height].every((pixels) => pixels >= 1 && pixels <= limits.markPixelsMax);
  if (!isFitting)
    throw new Error(`has ${width} × ${height} pixels, which must be at most ${limits.markPixelsMax} each`);
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('is neither an SVG nor a PNG image');
  }
}

/** Elements that only draw, and texts of an image. */
const elements: ReadonlySet<string> = new Set(
  `svg g defs symbol use title desc path rect circle ellipse line polyline polygon text tspan style
   linearGradient radialGradient stop clipPath mask pattern`.split(/\s+/),
);

/** A list of what is allowed, because what is dangerous in SVG has no end. */
function checkSvg(text: string): void {
  const content = text.replace(/^\uFEFF?\s*<\?xml [^<>]*\?>/, '').replaceAll(/<!--[^]*?-->/g, '');
  if (!/^\s*<svg[\s>]/.test(content)) throw new Error('is neither an SVG nor a PNG image');
  if (/<[!?]/.test(content)) throw new Error('has a document type, a CDATA section or a processing instruction');
  for (const [, name = ''] of content.matchAll(/<\/?([^\s<>/]*)/g))
    if (!elements.has(name)) throw new Error(`has the element <${name}>: export it as a plain SVG image`);
  for (const [, name = ''] of content.matchAll(/[\s"'/](on\w+|src|xml:base)\s*=/gi))
    throw new Error(`has the attribute ${name}`);
  const references = [
    ...content.matchAll(/href\s*=\s*(["']?)\s*([^"'\s>]*)/gi),
    ...content.matchAll(/url\(\s*(["']?)\s*([^"')\s]*)/gi),
  ];
  for (const [, , target = ''] of references)
    if (!target.startsWith('#')) throw new Error(`refers to ${target.slice(0, 40)}, which is outside of the image`);
  if (/@import|\\|&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-f]{1,6});)/i.test(content))
    throw new Error('has @import, a backslash or an entity that is not of XML');
}
