/** The columns of lists of keys. A list chooses some of them, and can change their priorities. */
import { Menu } from '../../parts/menu.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { ViewLink } from '../../parts/view-link.tsx';
import { text } from '../../text/text.ts';
import { deletionLabel } from './delete-key-dialog.tsx';
import type { ListedKey } from './key-owner.ts';
import { KeyState } from './key-state.tsx';
import { ScopeChips } from './scope-chips.tsx';

type Key = Omit<ListedKey, 'usage'>;

/** @param pathOf the page of a key */
export function keyColumns<K extends Key>(pathOf: (key: K) => string, onDelete?: (key: K, index: number) => void) {
  const column = <C extends Column<K>>(one: C): C => one;
  return {
    nickname: column({
      label: text.keys.nickname,
      cell: (key) => (
        <>
          <ViewLink class="row-link nickname" href={pathOf(key)} title={key.nickname}>
            <bdi>{key.nickname}</bdi>
          </ViewLink>
          {key.program && <div class="hint">{text.keys.ofProgram(key.program.name)}</div>}
        </>
      ),
    }),
    hint: column({
      label: text.keys.hint,
      priority: 'medium',
      // A short word for what has no secret.
      cell: ({ hint, publicKey, trust }) => <code class="one-line">{hint ?? publicKey?.crv ?? (trust && 'JWT')}</code>,
    }),
    scopes: column({
      label: text.keys.scopes,
      priority: 'low',
      cell: ({ scopes }) => <ScopeChips scopes={scopes} />,
    }),
    lastUsed: column({
      label: text.general.lastUsed,
      priority: 'medium',
      cell: ({ lastUsedAt }) => <Time at={lastUsedAt} />,
    }),
    expires: column({
      label: text.keys.expires,
      priority: 'low',
      cell: ({ expiresAt }) => <Time at={expiresAt} as="date" />,
    }),
    state: column({ label: text.general.state, priority: 'below', cell: (key) => <KeyState of={key} /> }),
    actions: column({
      label: text.general.actions,
      isLabelHidden: true,
      align: 'end',
      cell: (key, index) => (
        <Menu label={text.keys.actionsOf(key.nickname)}>
          <ViewLink href={pathOf(key)}>{text.keys.open}</ViewLink>
          {onDelete && (
            <button type="button" class="danger" onClick={() => onDelete(key, index)}>
              {deletionLabel(key)}
            </button>
          )}
        </Menu>
      ),
    }),
  };
}
