/** A page with a short list of what administrators declare for all accounts, such as issuers: additions, changes and removals. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentType } from 'preact';
import type { Fields } from '../../fields.ts';
import { formatNumber } from '../../format.ts';
import { ActionDialog } from '../../parts/action-dialog.tsx';
import { announce } from '../../parts/announce.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty, Loaded } from '../../parts/loaded.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Page } from '../../parts/page.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { useResource } from '../../resource.ts';
import { text } from '../../text/text.ts';

export interface DialogProps<T> {
  readonly of: T;
  /** @param sentence is announced */
  readonly onChanged: (sentence: string) => void;
  readonly onClose: () => void;
}

/** What a person can do with an entry: a dialog for each. */
export interface EntryAction<T> {
  readonly label: string;
  readonly Dialog: ComponentType<DialogProps<T>>;
  readonly isDangerous?: boolean;
}

interface DeclaredPageProps<T> {
  readonly texts: Readonly<Record<'title' | 'intro' | 'none' | 'noneIntro' | 'add', string>>;
  readonly load: (signal: AbortSignal) => Promise<readonly T[]>;
  readonly keyOf: (entry: T) => string | number;
  readonly columns: readonly Column<T>[];
  /** The name of the menu with the actions of an entry. */
  readonly actionsLabel: (entry: T) => string;
  readonly actionsOf: (entry: T) => readonly EntryAction<T>[];
  /** The form of a new entry. */
  readonly NewFields: ComponentType;
  /** @returns the sentence that is announced */
  readonly add: (fields: Fields) => Promise<string>;
}

export function DeclaredPage<T>({ texts, load, keyOf, columns, add, NewFields, ...actions }: DeclaredPageProps<T>) {
  const isAdding = useSignal(false);
  const opened = useSignal<{ readonly of: T; readonly Dialog: ComponentType<DialogProps<T>> }>();
  const list = useResource(load);
  const onChanged = (sentence: string): void => {
    announce(sentence);
    void list.reload();
  };
  const addButton = (
    <Button kind="primary" icon="plus" onClick={() => void (isAdding.value = true)}>
      {texts.add}
    </Button>
  );
  const { of, Dialog } = opened.value ?? {};
  return (
    <Page title={texts.title} intro={texts.intro} actions={list.value?.length !== 0 && addButton}>
      <div class="list">
        <Loaded of={list}>
          {(entries) =>
            entries.length === 0 ? (
              <Empty title={texts.none}>
                <p>{texts.noneIntro}</p>
                {addButton}
              </Empty>
            ) : (
              <Table
                label={texts.title}
                rows={entries}
                keyOf={keyOf}
                columns={[...columns, menuColumn({ ...actions, open: (next) => void (opened.value = next) })]}
              />
            )
          }
        </Loaded>
      </div>
      {isAdding.value && (
        <ActionDialog
          title={texts.add}
          size="large"
          onClose={() => void (isAdding.value = false)}
          act={async (fields) => onChanged(await add(fields))}
        >
          <NewFields />
        </ActionDialog>
      )}
      {of && Dialog && <Dialog of={of} onChanged={onChanged} onClose={() => void (opened.value = undefined)} />}
    </Page>
  );
}

interface MenuColumnProps<T> extends Pick<DeclaredPageProps<T>, 'actionsLabel' | 'actionsOf'> {
  readonly open: (opened: { readonly of: T; readonly Dialog: ComponentType<DialogProps<T>> }) => void;
}

const menuColumn = <T,>({ actionsLabel, actionsOf, open }: MenuColumnProps<T>): Column<T> => ({
  label: text.general.actions,
  isLabelHidden: true,
  align: 'end',
  cell: (entry) => (
    <Menu label={actionsLabel(entry)}>
      {actionsOf(entry).map(({ label, Dialog, isDangerous }) => (
        <button
          type="button"
          class={isDangerous ? 'danger' : ''}
          onClick={() => open({ of: entry, Dialog })}
          key={label}
        >
          {label}
        </button>
      ))}
    </Menu>
  ),
});

interface RemovalDialogProps {
  readonly texts: {
    readonly removeTitle: string;
    readonly remove: string;
    readonly removeIntro: string;
    readonly removed: string;
    /** How many keys the removal concerns. */
    readonly ofKeys: (keys: number, count: string) => string;
  };
  readonly name: ComponentChildren;
  /** Loads the number of these keys: the list may be older than the newest one. */
  readonly countKeys: (signal: AbortSignal) => Promise<number>;
  readonly remove: (fields: Fields) => Promise<unknown>;
  readonly onChanged: (sentence: string) => void;
  readonly onClose: () => void;
  /** @param keys their number */
  readonly children?: (keys: number) => ComponentChildren;
}

export function RemovalDialog({ texts, name, countKeys, remove, onChanged, onClose, children }: RemovalDialogProps) {
  const current = useResource(countKeys);
  return (
    <ActionDialog
      title={texts.removeTitle}
      submit={texts.remove}
      kind="danger"
      onClose={onClose}
      act={async (fields) => {
        await remove(fields);
        onChanged(texts.removed);
      }}
    >
      <p>{name}</p>
      <Loaded of={current} rows={1}>
        {(keys) => (
          <div class="stack tight">
            <p>{texts.ofKeys(keys, formatNumber(keys))}</p>
            {children?.(keys)}
          </div>
        )}
      </Loaded>
      <p>{texts.removeIntro}</p>
    </ActionDialog>
  );
}
