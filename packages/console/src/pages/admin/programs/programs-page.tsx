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

export const ProgramsPage = () => (
  <DeclaredPage
    texts={adminText.programs}
    load={async (signal) => (await call('GET /admin/programs', { signal })).programs}
    keyOf={({ id }) => id}
    columns={columns()}
    actionsLabel={({ name }) => adminText.programs.actionsOf(name)}
    actionsOf={actionsOf}
    NewFields={NewProgramFields}
    add={async (fields) => {
      const { name } = await call('POST /admin/programs', { body: newProgramIn(fields) });
      return adminText.programs.saved(name);
    }}
  />
);

const actionsOf = (): readonly EntryAction<Program>[] => [
  { label: adminText.programs.change, Dialog: ChangeDialog },
  { label: adminText.programs.remove, Dialog: ProgramRemovalDialog, isDangerous: true },
];

const Title = ({ of: { id, name } }: { readonly of: Program }) => (
  <>
    <bdi>{name}</bdi> <code>{id}</code>
  </>
);

/** After a restore that repeated a narrowing. */
const hasLapsed = ({ lifetimeSeconds }: Program): boolean => lifetimeSeconds === 0;

function columns(): readonly Column<Program>[] {
  const texts = adminText.programs;
  return [
    { label: texts.name, cell: (program) => <Title of={program} /> },
    {
      label: text.keys.scopes,
      priority: 'medium',
      cell: ({ scopes }) => <Chips values={scopes} none={text.general.none} />,
    },
    {
      label: texts.lifetime,
      priority: 'below',
      cell: (program) =>
        hasLapsed(program) ? (
          <Badge tone="warning">{texts.lapsedBadge}</Badge>
        ) : (
          formatDuration(program.lifetimeSeconds)
        ),
    },
    { label: texts.keys, priority: 'below', cell: ({ keys }) => texts.keyCount(keys, formatNumber(keys)) },
    { label: text.general.changed, priority: 'low', cell: ({ updatedAt }) => <Time at={updatedAt} as="date" /> },
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
  const params = { id: program.id };
  return (
    <RemovalDialog
      {...rest}
      texts={{ ...texts, ofKeys: texts.made }}
      name={<Title of={program} />}
      countKeys={async (signal) => (await call('GET /admin/programs/:id', { params, signal })).keys}
      remove={async (fields) => {
        const keys = fields.isChecked('deleteKeys') ? 'delete' : 'keep';
        // One request deletes a bounded number of keys.
        while ((await call('DELETE /admin/programs/:id', { params, query: { keys } })).remainingKeys > 0)
          if (keys === 'keep') break;
      }}
    >
      {(keys) => keys > 0 && <Choice name="deleteKeys" label={texts.deleteKeys} hint={texts.deleteKeysHint} />}
    </RemovalDialog>
  );
};
