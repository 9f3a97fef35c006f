/** Wrong clocks of instances. */
import type { Environment } from '../e2e/program.ts';

const shiftsSeconds = [0, 5, -5];

/** @param instance the number of the instance @returns an environment that shifts its clock by some seconds */
export function shiftedClocks(instance: number): Environment {
  const shiftMs = (shiftsSeconds[instance % shiftsSeconds.length] ?? 0) * 1_000;
  const source = `const now = Date.now; Date.now = () => now() + (${shiftMs});`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` };
}
