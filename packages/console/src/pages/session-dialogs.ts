/** The dialogs that confirm and continue a session. They are one file of the output, which loads when it is needed. */
export { ConfirmationDialog } from '../confirmation-dialog.tsx';
export { SessionEndDialog } from '../session-end-dialog.tsx';
export * from './first-pages.ts';
