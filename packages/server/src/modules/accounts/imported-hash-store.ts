/** The kinds of imported password hashes that no sign-in has replaced yet. */
import type { Db } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';

// Each step skips to the next recipe in the index, however many accounts have the current one.
const recipeText = (position: string) => `substr(password_hash, 1, ${position} - 1)`;
const nextRecipeText = (recipe: string) => `select ${recipe} as recipe from accounts
   where substr(password_hash, 1, 10) = '$imported$' and ${recipe} > $1 order by ${recipe} limit 1`;
const selectNextRecipe = sql<{ recipe: string }>('select_next_imported_recipe', {
  sqlite: nextRecipeText(recipeText(`instr(password_hash, ',keyid=')`)),
  postgres: nextRecipeText(recipeText(`strpos(password_hash, ',keyid=')`)),
});
/** @returns recipes of imported password hashes, in order */
export async function findImportedRecipes(db: Db, recipesMax: number): Promise<string[]> {
  const recipes: string[] = [];
  while (recipes.length < recipesMax) {
    const next = await db.get(selectNextRecipe, [recipes.at(-1) ?? '']);
    if (!next) break;
    recipes.push(next.recipe);
  }
  return recipes;
}
