/** A person without a mouse: moves the focus with Tab, and verifies at each step that the focus is visible. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { until } from '../../../server/test-kit/until.ts';

/** A page with more stops than this has a fault, such as a focus that returns to the start. */
const stopsMax = 80;

/** Facts of the focused element. In a string, because tests are compiled without the types of a browser. */
const inspect = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return { name: 'nothing', problems: [] };
  const name = element.tagName.toLowerCase() + ' ' + (element.getAttribute('aria-label') || element.labels?.[0]?.innerText || element.innerText || element.name || '').slice(0, 60);
  // A heading that receives the focus by script needs no mark: it is not a stop of Tab.
  if (element.tabIndex < 0) return { name, problems: [] };
  const problems = [];
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const hasOutline = ({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
  // An input inside a frame of its own may leave the outline to the frame.
  const frame = element.closest('dialog *:focus-within:not(:focus), .field *:focus-within:not(:focus)');
  const isFramed = frame !== null && hasOutline(getComputedStyle(frame));
  if (!hasOutline(style) && !isFramed && style.boxShadow === 'none') problems.push('no outline');
  if (box.width === 0 || box.height === 0) problems.push('no size');
  const x = Math.min(Math.max(box.left + box.width / 2, 0), innerWidth - 1);
  const y = Math.min(Math.max(box.top + Math.min(box.height, innerHeight) / 2, 0), innerHeight - 1);
  if (box.bottom <= 0 || box.top >= innerHeight || box.right <= 0 || box.left >= innerWidth) problems.push('outside of the window');
  else {
    const top = document.elementFromPoint(x, y);
    if (top && !element.contains(top) && !top.contains(element) && !top.closest('label')) problems.push('covered by ' + top.outerHTML.slice(0, 80));
  }
  return { name, problems };
})()`;

interface Focus {
  readonly name: string;
  readonly problems: readonly string[];
}

export class Keyboard {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /** Presses Tab until the target has the focus. Every element on the way must show the focus. */
  async moveTo(target: Locator): Promise<void> {
    await target.waitFor();
    const stops: string[] = [];
    while (!(await this.#isFocused(target))) {
      assert.ok(stops.length < stopsMax, `Tab does not reach ${String(target)}: ${stops.join(' → ')}`);
      await this.#page.keyboard.press('Tab');
      stops.push(await this.assertFocusVisible());
    }
  }

  async type(target: Locator, value: string): Promise<void> {
    await this.moveTo(target);
    await this.#page.keyboard.press('ControlOrMeta+A');
    await this.#page.keyboard.type(value);
  }

  async press(target: Locator, key = 'Enter'): Promise<void> {
    await this.moveTo(target);
    await this.assertFocusVisible();
    await this.#page.keyboard.press(key);
  }

  key(key: string): Promise<void> {
    return this.#page.keyboard.press(key);
  }

  /** @returns the name of the focused element */
  async assertFocusVisible(): Promise<string> {
    const { name, problems } = (await this.#page.evaluate(inspect)) as Focus;
    assert.deepEqual(problems, [], `the focus on “${name}” is visible`);
    return name;
  }

  /** Waits until the target has the focus without a key press. */
  async assertFocused(target: Locator, what: string): Promise<void> {
    await target.waitFor();
    await until(`${what} has the focus`, () => this.#isFocused(target)).catch(async () => {
      const { name } = (await this.#page.evaluate(inspect)) as Focus;
      assert.fail(`${what} must have the focus, but “${name}” has it`);
    });
  }

  async #isFocused(target: Locator): Promise<boolean> {
    return (await target.and(this.#page.locator(':focus')).count()) > 0;
  }
}
