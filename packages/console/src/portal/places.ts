/** Places of the pointer and of buttons, without the DOM. */

/** In CSS pixels of the page. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where the pointer is pressed, in the page and on the screen. */
export interface PressPlace extends Point {
  readonly screenX: number;
  readonly screenY: number;
}

/** How near to the pointer a button counts as below it, in CSS pixels. */
const margin = 8;

/** How near to each other two presses are at the same place, in pixels of the page or of the screen. */
const sameWithin = 16;

/** Whether a button lies below the pointer. */
export const liesBelow = (
  { x, y }: Point,
  { left, right, top, bottom }: Readonly<Record<'left' | 'right' | 'top' | 'bottom', number>>,
): boolean => x > left - margin && x < right + margin && y > top - margin && y < bottom + margin;

/** Whether two presses are at the same place of the page, or of the screen: a host page can move the frame below the pointer. */
export const areAtSamePlace = (one: PressPlace, other: PressPlace): boolean =>
  Math.hypot(one.x - other.x, one.y - other.y) < sameWithin ||
  Math.hypot(one.screenX - other.screenX, one.screenY - other.screenY) < sameWithin;
