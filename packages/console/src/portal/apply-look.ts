/** Applies a look to the document, as properties that a script may set under the policy of the page. No part of it is rendered again. */
import type { Appearance } from './look.ts';

const written = new Set<string>();

export function applyAppearance({ scheme, density, properties }: Appearance): void {
  const { dataset, style } = document.documentElement;
  if (scheme === undefined) delete dataset['theme'];
  else dataset['theme'] = scheme;
  dataset['density'] = density;
  for (const name of written) if (!(name in properties)) style.removeProperty(name);
  for (const [name, value] of Object.entries(properties)) {
    style.setProperty(name, value);
    written.add(name);
  }
}
