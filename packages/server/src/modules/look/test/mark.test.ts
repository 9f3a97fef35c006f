/** Only images that draw, load nothing and run nothing become the operator's mark. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { pngMark, svgMark } from '../../../../test-kit/marks.ts';
import { parseMark } from '../mark.ts';

const parse = (content: string | Buffer) => parseMark(Buffer.from(content));
const svg = (content: string): string => `<svg xmlns="http://www.w3.org/2000/svg">${content}</svg>`;

for (const [what, content, contentType] of [
  ['an SVG image', svgMark, 'image/svg+xml'],
  [
    'a declaration, comments and a title',
    `<?xml version="1.0"?>\n<!-- Made by <hand> -->\n${svg('<title>Us &amp; you</title>')}`,
    'image/svg+xml',
  ],
  ['a gradient of the image', svg('<linearGradient id="g"/><path fill="url(#g)"/><use href="#g"/>'), 'image/svg+xml'],
  ['a PNG image', pngMark(), 'image/png'],
  ['the largest PNG image', pngMark(limits.markPixelsMax, limits.markPixelsMax), 'image/png'],
] as const)
  test(`a mark can be ${what}`, () => {
    const mark = parse(content);
    assert.deepEqual([mark.contentType, Buffer.from(mark.bytes)], [contentType, Buffer.from(content)]);
  });

for (const [content, expected] of [
  ['', /neither an SVG nor a PNG/],
  ['<html><svg></svg></html>', /neither an SVG nor a PNG/],
  [Buffer.from([0xff, 0xd8, 0xff, 0xe0]), /neither an SVG nor a PNG/],
  [svg(' '.repeat(limits.markBytesMax)), /more than 65536 bytes/],
  [svg('<script>alert(1)</script>'), /the element <script>/],
  [svg('<SCRIPT>alert(1)</SCRIPT>'), /the element <SCRIPT>/],
  [svg('<s:script xmlns:s="http://www.w3.org/2000/svg">alert(1)</s:script>'), /the element <s:script>/],
  [svg('<foreignObject><p/></foreignObject>'), /the element <foreignObject>/],
  [svg('<image href="#a"/>'), /the element <image>/],
  [svg('<animate/>'), /the element <animate>/],
  [svg('<a href="#a"><path/></a>'), /the element <a>/],
  [svg('<path onload="alert(1)"/>'), /the attribute onload/],
  [svg('<path\nONCLICK = "alert(1)"/>'), /the attribute ONCLICK/],
  [svg('<path d="M0 0"onload="alert(1)"/>'), /the attribute onload/],
  [svg('<path/onload="alert(1)"/>'), /the attribute onload/],
  [svg('<use href="https://example.com/#a"/>'), /refers to https:\/\/example\.com/],
  [svg('<use xlink:href="data:image/svg+xml,x"/>'), /refers to data:/],
  [svg('<use href=javascript:alert(1) />'), /refers to javascript:/],
  [svg('<path fill="url(https://example.com/#a)"/>'), /refers to https:\/\/example\.com/],
  [svg('<style>@import "a.css";</style>'), /has @import/],
  [svg(String.raw`<style>path{fill:u\72l(https://example.com)}</style>`), /has @import, a backslash/],
  [`<!DOCTYPE svg [<!ENTITY a "b">]>${svg('&a;')}`, /neither an SVG/],
  [svg('<!DOCTYPE svg>'), /a document type/],
  [svg('<![CDATA[<path/>]]>'), /a CDATA section/],
  [svg('<?xml-stylesheet href="a.css"?>'), /a processing instruction/],
  [svg('<use href="&own;"/>'), /refers to|an entity/],
  [svg('<path fill="&#x6a;"/>&own;'), /an entity/],
  [pngMark().subarray(0, -12), /not a whole PNG/],
  [pngMark().subarray(0, 8), /not a whole PNG/],
  [pngMark(limits.markPixelsMax + 1, 1), /has 1025 × 1 pixels/],
] as const)
  test(`not a mark: ${String(content)
    .slice(0, 90)
    .replaceAll(/[^ -~]+/g, '.')}`, () => {
    assert.throws(() => parse(content), expected);
  });
