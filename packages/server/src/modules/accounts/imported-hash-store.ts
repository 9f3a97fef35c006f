/** The kinds of imported password hashes that no sign-in has replaced yet. */
import type { Db } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

// Each step skips to the next recipe in the index, however many accounts have the current one.
const recipeText = (position: string) => `substr(password_hash, 1, ${position} - 1)`;
const nextText = (recipe: string, last: string) => `(select ${recipe} from accounts
  where substr(password_hash, 1, 10) = '$imported$' and ${recipe} > ${last} order by ${recipe} limit 1)`;
const recipesText = (recipe: string) => `with recursive recipes (recipe, number) as (
    select ${nextText(recipe, `''`)}, 1
    union all
    select ${nextText(recipe, 'recipes.recipe')}, number + 1 from recipes where recipe is not null and number < $1
  ) select recipe from recipes where recipe is not null`;
const selectRecipes = sql<{ recipe: string }>('select_imported_recipes', {
  sqlite: recipesText(recipeText(`instr(password_hash, ',keyid=')`)),
  postgres: recipesText(recipeText(`strpos(password_hash, ',keyid=')`)),
});

/** @returns recipes of imported password hashes, each once */
export async function findImportedRecipes(db: Db, recipesMax: number): Promise<string[]> {
  const rows = await db.all(selectRecipes, [recipesMax]);
  return rows.map(({ recipe }) => recipe);
}
