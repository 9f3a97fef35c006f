/** A pseudo language: every letter has an accent and every text is longer, so that missing texts and overflow are visible. */
const letters = 'aàbƀcçdđeéfƒgĝhĥiîjĵkķlļmɱnñoôpþqǫrŕsštţuûvṽwŵxẋyýzž';
const accents = new Map(Array.from({ length: letters.length / 2 }, (_, i) => [letters[2 * i]!, letters[2 * i + 1]!]));

const stretched = (plain: string): string =>
  `[${Array.from(plain, (letter) => accents.get(letter) ?? letter).join('')}${'·'.repeat(Math.ceil(plain.length / 3))}]`;

type Tree = string | ((...values: never[]) => string) | { readonly [name: string]: Tree };

function change(tree: Tree): Tree {
  if (typeof tree === 'string') return stretched(tree);
  if (typeof tree === 'function') return (...values: never[]) => stretched(tree(...values));
  return Object.fromEntries(Object.entries(tree).map(([name, part]) => [name, change(part)]));
}

export const pseudo = <T extends object>(texts: T): T => change(texts as unknown as Tree) as T;
