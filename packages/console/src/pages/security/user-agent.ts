/** A short description of a user agent. The client chooses the text, so it only helps people to recognise a device. */

const programs = [
  // The order matters: Edge and Opera contain the names of Chrome and Safari, and Chrome that of Safari.
  ['Edge', /\bEdg(?:e|A|iOS)?\/[\d.]+/],
  ['Opera', /\bOPR\/[\d.]+/],
  ['Samsung Internet', /\bSamsungBrowser\/[\d.]+/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/[\d.]+/],
  ['Chrome', /\b(?:Headless)?(?:Chrome|CriOS)\/[\d.]+/],
  ['Safari', /\bSafari\/[\d.]+/],
] as const;

const systems = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b|\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
] as const;

export interface Device {
  readonly program: string;
  /** Undefined if the user agent does not name it. */
  readonly system: string | undefined;
}

const first = (of: readonly (readonly [string, RegExp])[], agent: string) =>
  of.find(([, pattern]) => pattern.test(agent))?.[0];

/** @returns undefined if the client sent no user agent */
export function deviceOf(agent: string): Device | undefined {
  if (agent.trim() === '') return undefined;
  // Other programs, such as `curl/8.5.0`, name themselves first.
  const program = first(programs, agent) ?? agent.split(/[\s(]/, 1)[0]!.replace('/', ' ');
  return { program, system: first(systems, agent) };
}
