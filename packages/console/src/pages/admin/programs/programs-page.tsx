/** The programs that people can sign in with from a command line: declaration, change and removal. */
import { call } from '../../../api.ts';
import { formatNumber } from '../../../format.ts';
import { ActionDialog } from '../../../parts/action-dialog.tsx';
import { Badge } from '../../../parts/badge.tsx';
import { Choice } from '../../../parts/choice.tsx';
import { Chips } from '../../../parts/chips.tsx';
import { Notice } from '../../../parts/notice.tsx';
import type { Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { adminText } from '../../../text/admin-text.ts';
import { text } from '../../../text/text.ts';
import { formatDuration } from '../../keys/lifetime-field.tsx';
import { DeclaredPage, RemovalDialog, type DialogProps, type EntryAction } from '../declared-page.tsx';
import { newProgramIn, NewProgramFields, programChangeIn, ProgramFields, type Program } from './program-fields.tsx';

/** A program that was removed has its id as the name, and no settings. */
interface Entry extends Program {
  readonly isRemoved?: true;
}

async function load(signal: AbortSignal): Promise<readonly Entry[]> {
  const { programs, removed } = await call('GET /admin/programs', { signal });
  const none = { name: '', scopes: [], lifetimeSeconds: 0, createdAt: '', updatedAt: '' };
  return [...programs, ...removed.map((one) => ({ ...none, ...one, isRemoved: true }) as const)];
}

export const ProgramsPage = () => (
  <DeclaredPage
    texts={adminText.programs}
    load={load}
    keyOf={({ id }) => id}
    columns={columns()}
    actionsLabel={({ name, id }) => adminText.programs.actionsOf(name || id)}
    actionsOf={actionsOf}
    NewFields={NewProgramFields}
    add={async (fields) => {
      const { name } = await call('POST /admin/programs', { body: newProgramIn(fields) });
      return adminText.programs.saved(name);
    }}
  />
);

const actionsOf = ({ isRemoved }: Entry): readonly EntryAction<Entry>[] =>
  isRemoved
    ? [{ label: adminText.programs.ofRemoved.remove, Dialog: KeysRemovalDialog, isDangerous: true }]
    : [
        { label: adminText.programs.change, Dialog: ChangeDialog },
        { label: adminText.programs.remove, Dialog: ProgramRemovalDialog, isDangerous: true },
      ];

const Title = ({ of: { id, name } }: { readonly of: Program }) => (
  <>
    {name && <bdi>{name}</bdi>} <code>{id}</code>
  </>
);

/** After a restore that repeated a narrowing. */
const hasLapsed = ({ lifetimeSeconds }: Program): boolean => lifetimeSeconds === 0;

function columns(): readonly Column<Entry>[] {
  const texts = adminText.programs;
  return [
    { label: texts.name, cell: (program) => <Title of={program} /> },
    {
      label: text.keys.scopes,
      priority: 'medium',
      cell: ({ scopes, isRemoved }) => (isRemoved ? '–' : <Chips values={scopes} none={text.general.none} />),
    },
    {
      label: texts.lifetime,
      priority: 'below',
      cell: (program) =>
        hasLapsed(program) ? (
          <Badge tone="warning">{program.isRemoved ? texts.removedBadge : texts.lapsedBadge}</Badge>
        ) : (
          formatDuration(program.lifetimeSeconds)
        ),
    },
    { label: texts.keys, priority: 'below', cell: ({ keys }) => texts.keyCount(keys, formatNumber(keys)) },
    {
      label: text.general.changed,
      priority: 'low',
      cell: ({ updatedAt }) => (updatedAt ? <Time at={updatedAt} as="date" /> : '–'),
    },
  ];
}

function ChangeDialog({ of: program, onChanged, onClose }: DialogProps<Program>) {
  const texts = adminText.programs;
  return (
    <ActionDialog
      title={texts.change}
      submit={text.general.save}
      size="large"
      onClose={onClose}
      act={async (fields) => {
        const body = programChangeIn(fields, program);
        if (body) await call('PATCH /admin/programs/:id', { params: { id: program.id }, body });
        onChanged(texts.saved(body?.name ?? program.name));
      }}
    >
      <p>
        <Title of={program} />
      </p>
      <Notice tone="warning">{hasLapsed(program) ? texts.lapsed : texts.narrowing}</Notice>
      <ProgramFields of={program} />
    </ActionDialog>
  );
}

const ProgramRemovalDialog = ({ of: program, ...rest }: DialogProps<Program>) => {
  const texts = adminText.programs;
  const { id } = program;
  return (
    <RemovalDialog
      {...rest}
      texts={{ ...texts, ofKeys: texts.made }}
      name={<Title of={program} />}
      countKeys={async (signal) => (await call('GET /admin/programs/:id', { params: { id }, signal })).keys}
      remove={(fields) => remove(id, fields.isChecked('deleteKeys'))}
    >
      {(keys) => keys > 0 && <Choice name="deleteKeys" label={texts.deleteKeys} hint={texts.deleteKeysHint} />}
    </RemovalDialog>
  );
};

/** Of a program that was removed before. */
const KeysRemovalDialog = ({ of: program, ...rest }: DialogProps<Entry>) => (
  <RemovalDialog
    {...rest}
    texts={{ ...adminText.programs.ofRemoved, ofKeys: adminText.programs.made }}
    name={<Title of={program} />}
    countKeys={async (signal) => (await load(signal)).find(({ id }) => id === program.id)?.keys ?? 0}
    remove={() => remove(program.id, true)}
  />
);

async function remove(id: string, deletesKeys: boolean): Promise<void> {
  const query = { keys: deletesKeys ? 'delete' : 'keep' } as const;
  // One request deletes a bounded number of keys.
  while ((await call('DELETE /admin/programs/:id', { params: { id }, query })).remainingKeys > 0)
    if (!deletesKeys) break;
}
