/** The first block of [from, to] for which `holds` is true, assuming that it stays true from there on; undefined if it
 *  never is. */
export function firstBlockWhere(from: number, to: number, holds: (blockNumber: number) => boolean): number | undefined {
  if (!holds(to)) return undefined
  let [low, high] = [from, to]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}
