/** Translates sentences that the server writes in English, by patterns. */

/** `{1}` stands for a value, which may itself be one of the sentences. The first that fits is used. */
export type ServerSentences = readonly (readonly [english: string, translation: string])[];

/** @returns undefined for a text that has no translation */
export function translationIn(sentences: ServerSentences, text: string): string | undefined {
  for (const [english, translation] of sentences) {
    const values = patternOf(english).exec(text);
    if (!values) continue;
    return translation.replaceAll(/\{(\d)\}/g, (_, place: string) => {
      const value = values[Number(place)] ?? '';
      return translationIn(sentences, value) ?? value;
    });
  }
  return undefined;
}

const patternOf = (english: string): RegExp =>
  new RegExp(`^${english.replaceAll(/[.*+?^$()|[\]\\{}]/g, '\\$&').replaceAll(/\\\{\d\\\}/g, '(.*?)')}$`, 's');
