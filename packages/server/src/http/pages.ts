/** The pages about errors, and the style that they share with the pages that links in mail open. */
import { errors, type ErrorCode } from '@keyreeve/contract';
import { escape, page, prose } from './html.ts';

export const style = `
:root { color-scheme: light dark; --line: #8885; --soft: #8882; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
h3 { margin: 2rem 0 .3rem; font-size: 1.05rem; }
code, pre { font: .88em/1.5 ui-monospace, monospace; background: var(--soft); border-radius: 4px; }
code { padding: .1em .3em; } pre { padding: .8rem; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); }
nav a { margin-right: 1rem; white-space: nowrap; }
`;

export function problemPage(code: ErrorCode): string {
  const { status, title, meaning } = errors[code];
  return page(
    `${title} (${code})`,
    style,
    `<h1>${escape(title)} (${code})</h1><p><code>${status}</code> <code>${escape(code)}</code></p><p>${prose(meaning)}</p><p><a href="/docs">All requests and errors</a></p>`,
  );
}
