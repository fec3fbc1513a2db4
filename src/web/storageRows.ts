import type { FoundVariable, StorageVariable } from './client/storageTypes.js'

/* Rows of stored variables as the page shows them. Pure functions, without the browser. */

/** A row: a variable, or a part of one. */
export interface StorageRow {
  readonly variable: StorageVariable
  /** As in Solidity: `pair.left`, `grid[0][1]`, `balances[0x…]`. */
  readonly label: string
  readonly path: readonly string[]
}

/** Returns the variables with their parts below them, and below a mapping or array the parts that were looked up. */
export function storageRows(
  variables: readonly StorageVariable[],
  looked: readonly FoundVariable[],
): readonly StorageRow[] {
  const rows: StorageRow[] = []
  const visit = (variable: StorageVariable, label: string, path: readonly string[]) => {
    rows.push({ variable, label, path })
    const isIndexed = variable.length !== undefined || variable.keyType !== undefined
    const visitPart = (part: StorageVariable) => {
      visit(part, isIndexed ? `${label}[${part.name}]` : `${label}.${part.name}`, [...path, part.name])
    }
    for (const part of variable.parts ?? []) visitPart(part)
    for (const found of looked) {
      if (found.path.length === path.length + 1 && path.every((step, i) => step === found.path[i])) {
        visitPart(found.variable)
      }
    }
  }
  // By their numbers: names may repeat.
  for (const [i, variable] of variables.entries()) visit(variable, variable.name, [String(i)])
  return rows
}

/** Shows what a source must not hide: characters that change the direction of text or are invisible, as `\u{202e}`. */
export function showInvisible(text: string): string {
  return text.replace(/[^\P{C}\n\r\t]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}
