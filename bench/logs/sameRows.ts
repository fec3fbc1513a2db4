/** True for equal rows in the same order; sums of doubles depend on their order. */
export function areSameRows(a: readonly unknown[][], b: readonly unknown[][]): boolean {
  const isSame = (x: unknown, y: unknown) => String(x) === String(y) || Math.abs(Number(x) / Number(y) - 1) < 1e-9
  const isSameRow = (row: unknown[], other: unknown[]) =>
    row.length === other.length && row.every((cell, i) => isSame(cell, other[i]))
  return a.length === b.length && a.every((row, i) => isSameRow(row, b[i]))
}
