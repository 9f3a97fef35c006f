/** The present time: one that ticks while a part of the page shows it, and that of the server. */
import { signal } from '@preact/signals';

let timer = 0;
const ticks = signal(0, {
  watched() {
    timer = setInterval(() => ticks.value++, 1000);
  },
  unwatched() {
    clearInterval(timer);
  },
});

/** Seconds until an instant of this computer's clock. A component that calls it is rendered each second until then. */
export function secondsUntil(at: number): number {
  const left = Math.ceil((at - Date.now()) / 1000);
  return left > 0 && ticks.value >= 0 ? left : 0;
}

let offsetMs = 0;

/** @param now the server's time in a response that has just arrived */
export const setServerTime = (now: string): void => void (offsetMs = Date.parse(now) - Date.now());

/** The server's present time, in milliseconds. */
export const serverNow = (): number => Date.now() + offsetMs;

/** An instant of the server as milliseconds of this computer's clock, which may be wrong. */
export const localTime = (at: string): number => Date.parse(at) - offsetMs;
