/** Keyreeve's own fields in JSON of any layout or in CSV. */
import { flagOf, present, type Convert } from './source.ts';

const flags = ['verified', 'disabled'];

/** Cells of CSV are text: flags and lists of names get their types. */
export const ownFields: Convert = (record) => {
  const typed = Object.entries(record).map(([name, value]) => {
    if (typeof value !== 'string') return [name, value];
    if (flags.includes(name)) return [name, flagOf(name, value)];
    return [name, name === 'scopes' ? value.split(/\s+/).filter((scope) => scope !== '') : value];
  });
  return [present(Object.fromEntries(typed) as Record<string, unknown>)];
};
