/** German sentences for error codes of the API that concern keys, and of the service in general. */
export const keyProblems = {
  unreachable: 'Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Netzwerkverbindung und versuchen Sie es erneut.',
  unavailable:
    'Der Dienst kann seine Datenbank nicht erreichen. Eine Änderung kann trotzdem erfolgt sein: Prüfen Sie das, bevor Sie sie wiederholen.',
  overloaded: 'Der Server ist ausgelastet. Es wurde nichts geändert.',
  internal_error: 'Ein interner Fehler ist aufgetreten. Nennen Sie einem Administrator die Anfrage-ID.',
  too_many_in_progress: 'Zu viele Anfragen werden gerade bearbeitet. Es wurde nichts geändert.',
  too_many_requests: 'Zu viele Anfragen dieser Art.',
  too_many_creations: 'Sie haben in kurzer Zeit zu viele Schlüssel erstellt.',
  too_many_changes: 'Sie haben in kurzer Zeit zu viele Änderungen vorgenommen.',
  key_not_found: 'Diesen Schlüssel gibt es nicht. Möglicherweise wurde er gelöscht.',
  nickname_taken: 'Ein anderer Schlüssel hat diesen Namen. Wählen Sie einen anderen.',
  nickname_invalid: 'Der Name enthält unzulässige Zeichen oder ist zu lang.',
  invalid_request: 'Die Anfrage ist nicht gültig. Korrigieren Sie die markierten Felder.',
  scope_invalid:
    'Ein Scope hat bis zu 64 sichtbare Buchstaben, Ziffern oder Zeichen, ohne Leerzeichen und Anführungszeichen. Ein Schlüssel hat bis zu 32 Scopes.',
  scope_not_entitled: 'Ihr Konto darf einen dieser Scopes nicht vergeben.',
  reserved_scope:
    'Nur ein Administrator kann Scopes vergeben, die mit „keyreeve:“ beginnen, oder einen Schlüssel mit einem solchen Scope ändern.',
  key_leaked: 'Das Geheimnis wurde veröffentlicht. Erneuern Sie es, um den Schlüssel wieder zu verwenden.',
  no_previous_secret: 'Das vorige Geheimnis ist bereits ungültig.',
  no_overlap_in_progress:
    'Das vorige Geheimnis ist ungültig, das aktuelle ist also das einzige. Wählen Sie, wann es ungültig wird.',
  key_limit_reached: 'Sie haben die Höchstzahl an Schlüsseln. Löschen Sie einen, den Sie nicht mehr brauchen.',
  not_found: 'Das gibt es nicht. Möglicherweise wurde es gelöscht.',
  body_too_large: 'Ihre Eingabe ist größer, als der Server annimmt.',
  request_timeout: 'Die Anfrage kam zu langsam an. Prüfen Sie Ihre Netzwerkverbindung und versuchen Sie es erneut.',
  overlap_in_progress:
    'Das Geheimnis vor der letzten Erneuerung gilt noch. Laden Sie die Seite neu, und erneuern Sie es dann noch einmal.',
  usage_not_kept: 'Dieser Dienst zählt keine Anfragen.',
};
