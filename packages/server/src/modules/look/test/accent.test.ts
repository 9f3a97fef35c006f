/** Every colour of an operator gives texts and controls with enough contrast, in both themes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ownFile } from '../../../foundation/own-files.ts';
import { accentOf, contrastOf, parse, styleOf } from '../accent.ts';

const tokens = readFileSync(ownFile('http/tokens.css'), 'utf8');

/** Of each theme, as the pages have them. */
function behindIn(theme: 'light' | 'dark'): string[] {
  const found = ['background', 'surface', 'surface-raised', 'surface-sunken', 'hover'].map((name) => {
    const [, light = '', dark = ''] =
      new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(tokens) ?? [];
    return theme === 'light' ? light : dark;
  });
  assert.match(found.join(), /^(?:#[0-9a-f]{6},?){5}$/);
  return found;
}

test('texts have 4.5:1 and controls 3:1 in both themes, with any colour', () => {
  const steps = ['00', '33', '80', 'cc', 'ff'];
  const colours = steps.flatMap((red) => steps.flatMap((green) => steps.map((blue) => `#${red}${green}${blue}`)));
  const faults: string[] = [];
  for (const colour of colours)
    for (const theme of ['light', 'dark'] as const) {
      const { text, fill, fillHover, onFill, soft } = accentOf(colour)[theme];
      const expect = (one: string, other: string, least: number): void => {
        if (contrastOf(parse(one), parse(other)) < least) faults.push(`${colour} ${theme}: ${one} on ${other}`);
      };
      for (const behind of [...behindIn(theme), soft]) expect(text, behind, 4.5);
      for (const behind of behindIn(theme)) expect(fill, behind, 3);
      expect(onFill, fill, 4.5);
      expect(onFill, fillHover, 4.5);
    }
  assert.deepEqual(faults, []);
});

test('a colour with enough contrast stays as it is', () => {
  const { light, dark } = accentOf('#0A6B4D');
  assert.deepEqual([light.text, light.fill, light.onFill], ['#0a6b4d', '#0a6b4d', '#ffffff']);
  assert.equal(contrastOf(parse('#000000'), parse('#ffffff')), 21);
  assert.match(
    styleOf({ light, dark }),
    /^:root\{--accent:light-dark\(#0a6b4d,#[0-9a-f]{6}\);(?:--[a-z-]+:light-dark\(#[0-9a-f]{6},#[0-9a-f]{6}\);?){4}\}\n$/,
  );
});
