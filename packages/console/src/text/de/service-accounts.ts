/** German texts of the pages about service accounts. */
export const serviceAccounts = {
  one: 'Dienstkonto',
  intro: 'API-Schlüssel von Programmen und Teams. Sie gelten weiter, wenn die Person geht, die sie erstellt hat.',
  create: 'Dienstkonto erstellen',
  emptyTitle: 'Sie verwalten kein Dienstkonto',
  empty:
    'Ein Dienstkonto besitzt die API-Schlüssel eines Programms oder eines Teams, damit sie weiter gelten, wenn die Person geht, die sie erstellt hat.',
  nameHint: 'Zum Beispiel das Programm, das die Schlüssel verwendet.',
  externalId: 'Externe ID',
  externalIdHint: 'Ihre eigene ID dafür, zum Beispiel aus einem anderen System.',
  createdBy: 'Erstellt von',
  you: 'Ihnen',
  otherAccount: 'einem anderen Konto',
  createdAnnouncement: (name: string) => `Das Dienstkonto ${name} wurde erstellt.`,

  idHint: 'Das Ergebnis einer Prüfung eines seiner Schlüssel enthält diese ID.',
  change: 'Ändern',
  changeTitle: 'Dienstkonto ändern',
  onlyCreator: 'Nur das Konto, das es erstellt hat, kann den Namen und die externe ID ändern.',

  managers: 'Verwaltende Konten',
  managersIntro: 'Sie können die Schlüssel, die verwaltenden Konten und das Dienstkonto ändern und löschen.',
  manager: 'Konto',
  added: 'Hinzugefügt',
  addManager: 'Konto hinzufügen',
  managerId: 'Konto-ID der anderen Person',
  managerIdHint: 'Sie steht auf der Seite „Konto“ der anderen Person und beginnt mit acc_.',
  managerAdded: 'Das Konto wurde hinzugefügt.',
  removeTitle: 'Verwaltendes Konto entfernen?',
  removeIntro: (id: string) =>
    `${id} kann danach nichts mehr mit diesem Dienstkonto tun. Die Schlüssel des Dienstkontos gelten weiter.`,
  removeSelfIntro:
    'Sie können danach nichts mehr mit diesem Dienstkonto tun. Die Schlüssel des Dienstkontos gelten weiter.',
  managerRemoved: 'Das Konto wurde entfernt.',

  delete: 'Dienstkonto löschen',
  deleteDescription: 'Löscht das Dienstkonto und seine Schlüssel. Das lässt sich nicht rückgängig machen.',
  deleteTitle: (name: string) => `${name} löschen?`,
  deleteIntro: 'Alle Schlüssel werden gelöscht und sofort abgelehnt. Das lässt sich nicht rückgängig machen.',
  deleted: (name: string) => `Das Dienstkonto ${name} wurde mit seinen Schlüsseln gelöscht.`,
};
