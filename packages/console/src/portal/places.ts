/** Places of the pointer and of buttons, without the DOM. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** How near to the pointer a button counts as below it, in CSS pixels. */
const margin = 8;

/** Whether a button lies below the pointer. */
export const liesBelow = (
  { x, y }: Point,
  { left, right, top, bottom }: Readonly<Record<'left' | 'right' | 'top' | 'bottom', number>>,
): boolean => x > left - margin && x < right + margin && y > top - margin && y < bottom + margin;
