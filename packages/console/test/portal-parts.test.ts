/** The parts of the key page that need no browser: colours, language, messages, and what waits or repeats. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Look } from '../../elements/src/messages.ts';
import { Appearance, isHeldPress, submitsFromChoice } from '../src/parts/presses.ts';
import { contrastOf, rgbOf, type Rgb } from '../src/portal/colours.ts';
import { exampleLanguages, exampleOf } from '../src/portal/example-code.ts';
import { openDialogs } from '../src/parts/open-dialogs.ts';
import { whenNoDialogIsOpen } from '../src/parts/waiting.ts';
import { connectHost, type Browsing } from '../src/portal/host.ts';
import { languageOf } from '../src/portal/language.ts';
import { appearanceOf } from '../src/portal/look.ts';
import { areAtSamePlace, liesBelow } from '../src/portal/places.ts';

const colour = (properties: Readonly<Record<string, string>>, name: string): Rgb => {
  const found = rgbOf(properties[`--${name}`] ?? '');
  assert.ok(found, `--${name} is ${properties[`--${name}`]}`);
  return found;
};

/** Of notices. */
const tints = ['accent-soft', 'good-soft', 'warning-soft', 'bad-soft'] as const;

/** What is drawn on what. */
const pairs: readonly (readonly [text: string, ...grounds: string[]])[] = [
  ['text', 'background', 'surface', 'surface-raised', 'surface-sunken', 'hover', ...tints],
  ['muted', 'background', 'surface', 'surface-sunken', 'hover'],
  ['accent', 'background', 'surface', 'hover', 'accent-soft'],
  ['good', 'surface', 'good-soft'],
  ['warning', 'surface', 'warning-soft'],
  ['bad', 'surface', 'bad-soft'],
  ['accent-text', 'accent-fill', 'accent-fill-hover'],
];

test('text is readable with all colours that a host can give', () => {
  const samples = [
    '#000',
    '#fff',
    '#777',
    '#767676',
    '#ff0',
    '#00f',
    '#0a5',
    '#e11d48',
    'rgb(1 2 250)',
    'oklch(0.7 0.3 40)',
    'rgb(93 38 63)',
    'rgb(134 230 62)',
    'rgb(3 193 24)',
  ];
  const looks: Look[] = samples.flatMap((one, i) => [
    { theme: 'light', accent: one },
    { theme: 'dark', accent: one },
    { theme: 'auto', background: one },
    { theme: 'light', text: one },
    ...samples.map((other, j): Look => ({
      theme: i % 2 ? 'light' : 'dark',
      background: one,
      surface: other,
      text: samples[(i + j) % samples.length]!,
      accent: samples[(i * 3 + j) % samples.length]!,
    })),
  ]);
  for (const look of looks) {
    const { properties } = appearanceOf(look, false);
    for (const [text, ...grounds] of pairs)
      for (const ground of grounds) {
        const contrast = contrastOf(colour(properties, text), colour(properties, ground));
        assert.ok(contrast >= 4.5, `${text} on ${ground} has ${contrast.toFixed(2)} with ${JSON.stringify(look)}`);
      }
  }
});

test('the page has the colours of the host if they are readable, and the scheme of its background', () => {
  const look = { theme: 'light', background: '#101418', text: '#f0f0f0', accent: '#7ab' } as const;
  const { scheme, properties } = appearanceOf(look, false);
  assert.equal(scheme, 'dark');
  assert.equal(properties['--background'], 'rgb(16 20 24)');
  assert.equal(properties['--text'], 'rgb(240 240 240)');
  assert.equal(properties['--accent'], 'rgb(119 170 187)');
  assert.deepEqual(appearanceOf({ theme: 'auto' }, true), {
    scheme: undefined,
    density: 'comfortable',
    properties: {},
  });
  assert.deepEqual(appearanceOf({ theme: 'dark', radius: 4, density: 'compact', font: 'Inter, serif' }, false), {
    scheme: 'dark',
    density: 'compact',
    properties: { '--radius': '4px', '--radius-large': '6px', '--font': '"Inter", serif, system-ui, sans-serif' },
  });
});

test('colours of oklch are those that browsers show', () => {
  for (const [text, expected] of [
    ['oklch(0.6279 0.2577 29.23)', [255, 0, 0]],
    ['oklch(0.8664 0.2948 142.5)', [0, 255, 0]],
    ['oklch(0.4520 0.3132 264.05)', [0, 0, 255]],
    ['oklch(1 0 0)', [255, 255, 255]],
  ] as const) {
    const found = rgbOf(text);
    assert.ok(
      found?.every((byte, i) => Math.abs(byte - expected[i]!) <= 1),
      `${text}: ${found?.join()}`,
    );
  }
  assert.equal(rgbOf('red'), undefined);
  assert.equal(rgbOf('url(x)'), undefined);
});

test('the language is that of the host if the page has it, otherwise that of the browser', () => {
  for (const [wanted, preferred, expected] of [
    ['de', ['en-US'], 'de'],
    ['DE-at', ['en-US'], 'de-AT'],
    ['fr', ['de-CH', 'en'], 'de-CH'],
    ['not_a-tag', ['de'], 'de'],
    ['-', ['fr'], 'en'],
    [undefined, ['ja', 'en-GB'], 'en-GB'],
    // Pseudo languages are for tests of the console.
    ['en-XA', ['de'], 'de'],
    ['ar-XB', ['de'], 'de'],
    ['deutsch', ['en'], 'en'],
  ] as const)
    assert.equal(languageOf(wanted, preferred), expected, String(wanted));
});

test('a dialog accepts its second step half a second after it has appeared', () => {
  let now = 7;
  const appearance = new Appearance({ pauseMs: 500, now: () => now });
  assert.equal(appearance.accepts(), false);
  now += 499;
  assert.equal(appearance.accepts(), false);
  now += 1;
  assert.equal(appearance.accepts(), true);
});

test('a key that is held down presses no button and submits no form, and repeats letters in texts', () => {
  for (const [key, name, type, isIgnored] of [
    ['Enter', 'BUTTON', 'submit', true],
    [' ', 'BUTTON', 'button', true],
    ['Enter', 'INPUT', 'text', true],
    [' ', 'INPUT', 'text', false],
    [' ', 'INPUT', 'checkbox', true],
    ['Enter', 'INPUT', 'radio', true],
    ['Enter', 'TEXTAREA', '', false],
    ['a', 'BUTTON', 'button', false],
    ['Tab', 'BUTTON', 'button', false],
  ] as const) {
    assert.equal(isHeldPress({ key, repeat: true }, { name, type }), isIgnored, `${key} ${name} ${type}`);
    assert.equal(isHeldPress({ key, repeat: false }, { name, type }), false);
  }
});

test('the Enter key in a radio button or a box submits nothing', () => {
  for (const [key, name, type, expected] of [
    ['Enter', 'INPUT', 'radio', true],
    ['Enter', 'INPUT', 'checkbox', true],
    [' ', 'INPUT', 'checkbox', false],
    ['Enter', 'INPUT', 'text', false],
    ['Enter', 'BUTTON', 'submit', false],
  ] as const)
    assert.equal(submitsFromChoice({ key }, { name, type }), expected, `${key} ${name} ${type}`);
});

test('a button lies below the pointer if it is at its place or beside it', () => {
  const rectangle = { left: 100, right: 200, top: 50, bottom: 80 };
  for (const [x, y, expected] of [
    [150, 60, true],
    [95, 60, true],
    [80, 60, false],
    [150, 90, false],
  ] as const)
    assert.equal(liesBelow({ x, y }, rectangle), expected, `${x} ${y}`);
});

test('two presses are at the same place in the page or on the screen', () => {
  const first = { x: 100, y: 50, screenX: 300, screenY: 450 };
  for (const [x, y, screenX, screenY, expected] of [
    [100, 50, 900, 900, true],
    [900, 900, 300, 450, true],
    [115, 50, 900, 900, true],
    [116, 50, 316, 450, false],
  ] as const)
    assert.equal(areAtSamePlace(first, { x, y, screenX, screenY }), expected, `${x} ${screenX}`);
});

test('what waits for the end of dialogs is done when the last one has closed, in order', async () => {
  const done: number[] = [];
  whenNoDialogIsOpen(() => void done.push(1));
  assert.deepEqual(done, [1]);
  openDialogs.value = 1;
  whenNoDialogIsOpen(() => void done.push(2));
  whenNoDialogIsOpen(() => void done.push(3));
  openDialogs.value = 0;
  // One dialog takes the place of another one.
  openDialogs.value = 1;
  await setImmediate();
  assert.deepEqual(done, [1]);
  openDialogs.value = 0;
  await setImmediate();
  assert.deepEqual(done, [1, 2, 3]);
});

const origin = 'https://app.example.com';

function framed(display: string, isFramed = true) {
  const sent: unknown[] = [];
  const looks: Look[] = [];
  const parent = { postMessage: (...message: unknown[]) => void sent.push(message) };
  let receive: Parameters<Browsing['listen']>[0] = () => undefined;
  const host = connectHost((look) => void looks.push(look), {
    origin: display === 'frame' ? origin : '',
    display,
    parent,
    isFramed,
    listen: (listener) => void (receive = listener),
  });
  return { host, sent, looks, parent, receive: (event: Parameters<typeof receive>[0]) => receive(event) };
}

test('messages go to the origin of the session only, and looks come from its frame only', () => {
  const { host, sent, looks, parent, receive } = framed('frame');
  host.send({ type: 'created', keyId: 7 });
  assert.deepEqual(sent, [[{ keyreeve: 1, type: 'created', keyId: 7 }, origin]]);
  const data = { keyreeve: 1, type: 'look', theme: 'dark' };
  receive({ source: parent, origin: 'https://evil.example.com', data });
  receive({ source: null, origin, data });
  receive({ source: {}, origin, data });
  receive({ source: parent, origin, data: { ...data, html: '<b>' } });
  receive({ source: parent, origin, data: { ...data, accent: 'url(https://evil.example.com)' } });
  assert.deepEqual(looks, []);
  receive({ source: parent, origin, data });
  assert.deepEqual(looks, [data]);
});

test('a page of its own sends no messages', () => {
  for (const { host, sent } of [framed('page'), framed('frame', false)]) {
    host.send({ type: 'ready' });
    assert.deepEqual(sent, []);
  }
});

test('no character of the URL of the example leaves its string', () => {
  const url = `https://api.example.com/'"\\$\`?q=<script>`;
  for (const language of exampleLanguages) {
    const code = exampleOf(language, { method: 'POST', url });
    const quoted = language === 'curl' ? url.replaceAll("'", String.raw`'\''`) : JSON.stringify(url).slice(1, -1);
    assert.ok(code.includes(quoted), code);
    assert.doesNotMatch(code, /krv_/);
  }
});
