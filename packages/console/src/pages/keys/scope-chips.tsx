/** The scopes of a key in a row: the first one, and the number of the others. */
import { formatNumber } from '../../format.ts';

const shown = 1;

export const ScopeChips = ({ scopes }: { readonly scopes: readonly string[] }) => (
  <ul class="chips one-line">
    {scopes.slice(0, shown).map((scope) => (
      <li class="chip" key={scope}>
        {scope}
      </li>
    ))}
    {scopes.length > shown && (
      <li class="muted" title={scopes.slice(shown).join(' ')}>
        +{formatNumber(scopes.length - shown)}
      </li>
    )}
  </ul>
);
