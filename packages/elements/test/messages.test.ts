/** The schema of the messages between the key page and its host. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseColour, parseLookMessage, parsePageMessage } from '../src/messages.ts';

const from = (type: string, more: object = {}): Record<string, unknown> => ({ keyreeve: 1, type, ...more });

const pageMessages = [
  from('ready'),
  from('height', { px: 0 }),
  from('height', { px: 100_000 }),
  ...['created', 'rotated', 'changed', 'deleted'].map((type) => from(type, { keyId: 1 })),
  from('created', { keyId: Number.MAX_SAFE_INTEGER }),
  from('ended'),
  from('reload'),
];

const looks = [
  from('look', { theme: 'light' }),
  from('look', { theme: 'dark', lang: 'de-AT', density: 'compact' }),
  from('look', {
    theme: 'auto',
    lang: 'en',
    accent: '#0a7',
    background: '#ffFFff',
    surface: 'rgb(0, 128, 255)',
    text: 'oklch(0.2 0.05 359.9)',
    radius: 24,
    font: 'Inter, Source Sans 3,system-ui,A-b,c',
    density: 'comfortable',
  }),
];

/** The same data in forms that are not the message. */
const inOtherShapes = (message: Record<string, unknown>): unknown[] => [
  [message],
  JSON.stringify(message),
  Object.assign(Object.create({ keyreeve: 1 }) as object, message),
  Object.create(message),
  Object.assign(new URLSearchParams(), message),
  Object.assign(new Map(), message),
  Object.assign([], message),
  Object.assign(() => 1, message),
  { ...message, further: 1 },
  { ...message, [Symbol('further')]: 1 },
  { ...message, keyreeve: '1' },
  { ...message, keyreeve: 2 },
  { ...message, type: [message['type']] },
  Object.defineProperty({ ...message }, 'type', { get: () => message['type'], enumerable: true }),
  Object.defineProperty({ ...message }, 'hidden', { value: 1, enumerable: false }),
  ...Object.keys(message).flatMap((name) => [
    { ...message, [name]: undefined },
    { ...message, [name]: null },
    { ...message, [name]: { toString: () => message[name] } },
  ]),
  ...['keyreeve', 'type', 'theme', 'px', 'keyId']
    .filter((name) => name in message)
    .map((name) => Object.fromEntries(Object.entries(message).filter(([each]) => each !== name))),
];

test('each message of the schema is accepted as a structured copy, in its direction only', () => {
  for (const message of pageMessages) {
    assert.deepEqual(parsePageMessage(structuredClone(message)), message);
    assert.equal(parseLookMessage(message), undefined);
  }
  for (const message of looks) {
    assert.deepEqual(parseLookMessage(structuredClone(message)), message);
    assert.equal(parsePageMessage(message), undefined);
  }
  const bare = Object.assign(Object.create(null) as object, from('ready'));
  assert.equal(parsePageMessage(bare), bare);
});

test(
  'a message with a further, missing, inherited or computed member, or of a class, is rejected',
  { tags: ['asvs:3.5.5'] },
  () => {
    for (const message of pageMessages)
      for (const other of inOtherShapes(message))
        assert.equal(parsePageMessage(other), undefined, JSON.stringify(other));
    for (const message of looks)
      for (const other of inOtherShapes(message))
        assert.equal(parseLookMessage(other), undefined, JSON.stringify(other));
    for (const data of [undefined, null, true, 1, 'ready', '', Symbol('ready'), 1n, [], {}, new Date(0)]) {
      assert.equal(parsePageMessage(data), undefined);
      assert.equal(parseLookMessage(data), undefined);
    }
  },
);

test('values outside their bounds are rejected', () => {
  const rejectedOfPage = [
    ...[-1, 100_001, 1.5, '5', Number.NaN, Infinity, 5n].map((px) => from('height', { px })),
    ...[0, -1, 1.5, '1', 2 ** 53, Number.NaN].map((keyId) => from('created', { keyId })),
    from('created', { keyId: 1, secret: 'kr_1' }),
    from('ready', { keyId: 1 }),
    ...['toString', '__proto__', 'constructor', 'Ready', 'look', ''].map((type) => from(type)),
  ];
  for (const message of rejectedOfPage) assert.equal(parsePageMessage(message), undefined, String(message['type']));
  const rejectedLooks: readonly (readonly [string, readonly unknown[]])[] = [
    ['theme', ['', 'Dark', 'system', ['dark']]],
    ['lang', ['', 'd', 'de_DE', 'de DE', 'de\n', '../de', 'x'.repeat(36)]],
    ['radius', [-1, 25, 4.5, '4', '4px']],
    ['font', ['', 'a;b', 'url(x)', '"Inter"', 'a\\62', 'a,', 'a,b,c,d,e,f', 'x'.repeat(41), 'Inter\n']],
    ['density', ['', 'cosy']],
    ['title', ['Your keys']],
    ['__proto__', [{}]],
    ...['accent', 'background', 'surface', 'text'].map((name) => [name, ['', 'red', 'url(//x.test/)', 1]] as const),
  ];
  for (const [name, values] of rejectedLooks)
    for (const value of values) {
      const message = from('look', { theme: 'dark' });
      Object.defineProperty(message, name, { value, enumerable: true });
      assert.equal(parseLookMessage(message), undefined, `${name}: ${JSON.stringify(value)}`);
    }
});

test('a colour is parsed to its numbers, and every other text is rejected', () => {
  const accepted = [
    ['#0a7', 'rgb', [0, 170, 119]],
    ['#00AA77', 'rgb', [0, 170, 119]],
    ['rgb(0 170 119)', 'rgb', [0, 170, 119]],
    ['rgb(255, 0, 7)', 'rgb', [255, 0, 7]],
    ['oklch(1 0 0)', 'oklch', [1, 0, 0]],
    ['oklch(0.62 0.5 360)', 'oklch', [0.62, 0.5, 360]],
  ] as const;
  for (const [text, space, values] of accepted) assert.deepEqual(parseColour(text), { space, values });
  const rejected = [
    '',
    '#',
    '#1',
    '#12',
    '#1234',
    '#12345',
    '#12345678',
    '#00aa7g',
    ' #0a7',
    '#0a7 ',
    '#0a7\n',
    '0a7',
    'red',
    'rgb(256 0 0)',
    'rgb(1 2)',
    'rgb(1, 2 3)',
    'rgb(1 2 3 / 0.5)',
    'rgb(-1 0 0)',
    'rgba(1, 2, 3, 1)',
    'rgb(1.5 0 0)',
    'RGB(0 0 0)',
    'oklch(1.1 0 0)',
    'oklch(0.5 0.6 0)',
    'oklch(0.5 0.1 361)',
    'oklch(50% 0.1 20)',
    'oklch(0.5 0.1 20deg)',
    'oklch(0.5 0.1 20 / 1)',
    'var(--a)',
    'url(a)',
    'transparent',
    'color(srgb 1 1 1)',
    'rgb(1 2 3);x:y',
  ];
  for (const text of rejected) assert.equal(parseColour(text), undefined, text);
});
